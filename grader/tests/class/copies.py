"""copies.py — what a student does to hide a copy: new names, another order, statements put in, half of it. similar.py and planted.py
use it."""
import re

KEEP = set("""auto bool break case char const continue do double else extern float for if inline int long return short signed sizeof static
struct switch template typedef typename unsigned using void volatile while include define pragma unroll C x y z w""".split())


def strip(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def renamed(text, rng):
    """Every name that is declared here gets another one; comments go, blanks change."""
    text = strip(text)
    declared = set(re.findall(r"\b(?:int|float|double|unsigned|long|bool|char|float4|float2|size_t|dim3)\s*[*&]*\s*(?:const\s+)?(?:__restrict__\s+)?([A-Za-z_]\w*)", text))
    declared |= set(re.findall(r"\b([A-Za-z_]\w*)\s*(?==[^=])", text)) | set(re.findall(r"__global__[^(]*?\b(\w+)\s*\(", text))
    entry = set(re.findall(r'extern\s+"C"\s+void\s+(\w+)', text))
    names = {n: f"v{rng.randrange(10**6)}" for n in declared - KEEP - entry if not n.startswith("__")}
    text = re.sub(r"\b[A-Za-z_]\w*\b", lambda m: names.get(m.group(0), m.group(0)), text)
    return re.sub(r"\n\s*", lambda m: "\n" + " " * rng.randrange(9), text)


def pieces(text):
    """Top-level parts: functions, declarations, directives."""
    parts, depth, now = [], 0, ""
    for line in strip(text).split("\n"):
        now += line + "\n"
        depth += line.count("{") - line.count("}")
        if depth == 0 and (line.startswith("}") or line.startswith("#") or line.endswith(";")):
            parts.append(now)
            now = ""
    return parts + [now]


def reordered(text, rng):
    parts = pieces(text)
    head = [p for p in parts if p.lstrip().startswith("#")]
    rest = [p for p in parts if not p.lstrip().startswith("#")]
    rng.shuffle(rest)
    return renamed("".join(head + rest), rng)


def padded(text, rng):
    """A statement that does nothing after every sixth line of code."""
    out = []
    for i, line in enumerate(renamed(text, rng).split("\n")):
        out.append(line)
        if i % 6 == 5 and line.rstrip().endswith(";"):
            out.append(f"if (threadIdx.x > {1024 + i}) return;")
    return "\n".join(out)


def half(text, rng):
    """The first half of its parts alone, renamed."""
    parts = pieces(text)
    return renamed("".join(parts[: max(1, len(parts) // 2)]), rng)
