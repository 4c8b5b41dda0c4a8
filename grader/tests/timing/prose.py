"""Checks the figures in the book's prose: each has a source that a program, or a reader, can look up.

    python3 grader/tests/timing/prose.py            lists those that differ from their source, and those without one; status 1 if there are any
    python3 grader/tests/timing/prose.py --once     also lists those that were measured once and are in no file

Run from the top of the tree. A comment behind a paragraph, a list item or a table, which no page shows, names the sources of its figures.
Some words of the text identify each figure; it is the first number in them:

    <!--fig 1.34 times: h100 matmul_tiled/1 / h100 matmul_tiled/solution; 228 KB: h200 device[shared_per_sm] / 1024-->

Behind the colon stands an expression over names (prose_values.py lists them), or
- `chosen`: the page sets it, a size or a threshold of its own;
- `source NAME`: a reader finds it there, an entry of docs/sources.md;
- `once WHERE`: measured or modelled there, and kept in no file.

A figure is, in running text, in a caption, or in a cell of a table that nothing else holds to its source,
- a number before a unit of time, rate, size in KB or more, share, or clocks, before "times as", or behind "factor of";
- a number of 100 or more before something that is counted: sectors, requests, instructions, bytes …, or a counter's name;
- a number with a decimal point, but for versions.
In a table, a column's head or a row's beginning may name the unit for bare numbers.
Everything else is structure: lanes, sizes of tiles and blocks, chapters, numbers in words. Such a number may have a source, too ("half", "four times").
Where the text itself gives the arithmetic (131 072 / 32 = 4096), that is checked, and needs no comment. So is a task's table of limits: each number
in its column `limit` is a limit of a metric of its row (docs/results/limits.tsv).

A figure agrees with its source up to its own rounding, and where something in it was measured or modelled up to 3 %; behind "about", "some",
"nearly" … up to 10 %, as do numbers in words.
"""

import glob
import re
import sys

from lessons import ROW
from prose_counts import LIMITS, rows_of
from prose_values import NAME, Unknown, cells, evaluate, number

PAGES = "chapters/*/*.md", "solutions/*/*-ladder.md", "docs/measuring.md"

DIGITS = r"(?:\d+(?:\.\d+)? · 10[⁰¹²³⁴-⁹]+|\d+/\d+|\d{1,3}(?: \d{3})+(?:\.\d+)?|\d+(?:\.\d+)?[⁰¹²³⁴-⁹]*)"
NUMBER = rf"(?<![\w.²³/,-]){DIGITS}(?![\w⁰-⁹²³/]|\.\d| \d{{3}}\b)"
UNIT = r"(?:[pnµm]s|(?:[KMGT]B|[GT]FLOP)/s|[KMGT]i?B|[GT]FLOP|[MG]Hz|%|per cent|cycles|clocks|billion|million|T|times(?= (?:as|the|what|more)\b))(?![\w/])"
COUNT = (
    r"(?:bank |shared |multiply-)?(?:\0|(?:sectors|requests|instructions|passes|wavefronts|conflicts|atomics|loads|stores|reads|writes|barriers|"
    r"shuffles|registers|bytes|turns|accesses|operations|additions|adds|products)\b)"
)
MORE = rf"(?:(?:,? and|,? or|,? to|,) {DIGITS})*"
FIGURE = re.compile(rf"{NUMBER}(?={MORE} ?{UNIT})|(?<=factor of ){NUMBER}")
COUNTED = re.compile(rf"{NUMBER}(?={MORE} {COUNT})")
DECIMAL = re.compile(NUMBER)
HEAD_UNIT = re.compile(r"(?<![a-z])[nµm]s\b|cycles|[GT]B/s|%")
VERSIONS = "5.0 5.2 6.0 6.1 7.0 7.5 8.0 8.6 8.9 9.0 10.0 11.0 12.0 13.0 13.5".split()
EQUATION = re.compile(rf"(?<![\d)·×/+−-] )(?<![\w.])((?:[(⌊]*{DIGITS}[)⌋]*(?: [·×/+−] |(?= =)))+) = ({DIGITS})(?! [·/+−] )")
SUM = re.compile(rf"{NUMBER}(?: \+ {DIGITS})*(?! registers)")
WORDS = dict(zip("two three four five six seven eight nine ten twelve twice".split(), (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 2)))
WORDS |= {"half": 1 / 2, "third": 1 / 3, "quarter": 1 / 4, "fifth": 1 / 5, "sixth": 1 / 6, "seventh": 1 / 7, "eighth": 1 / 8, "tenth": 1 / 10}
WORDS |= {"two thirds": 2 / 3, "three quarters": 3 / 4}
HEDGE = re.compile(r"(?:[Aa]bout|[Ss]ome|nearly|almost|around|roughly|hardly|close to|~) $")
MARK = re.compile(r"<!--fig (.*?)-->", flags=re.S)
HELD = re.compile(r"<!--counted |\| counter \||Times, modelled for ")  # tables that `verify` and ladders.py hold
ANY_ROW = re.compile(r"\|")
TIMES = re.compile(r"<!--times ")  # of these lessons.py holds some rows


class Block:
    """A paragraph, an item, or a table; `tags` are the comments behind it."""

    def __init__(self, line, table):
        self.line, self.lines, self.tags, self.table = line, [], [], table

    def text(self):
        return " ".join(with_units(self.lines)) if self.table else shown(" ".join(line.strip() for line in self.lines))


def shown(text):
    """Without what is no text: code, where links lead, emphasis."""
    text = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]+`", "\0", text))
    return re.sub(r"[ \u00a0]+", " ", text.replace("*", ""))


def with_units(lines):
    """A table's lines; bare numbers get the unit of their column's head or their row's, if that names one."""
    head = cells(lines[0]) if lines else []
    for line in lines:
        row = cells(line)
        for i, cell in enumerate(row[1:], 1):
            unit = HEAD_UNIT.search(" ".join(head[i : i + 1])) or HEAD_UNIT.search(row[0])
            if unit and re.fullmatch(DIGITS, cell):
                row[i] = f"{cell} {unit.group()}"
        yield shown(f"| {' | '.join(row)} |")


def in_limits(lines, limits):
    """(where a number of a task's table of limits stands, None or what is wrong). A row's numbers are limits of the metrics that it names."""
    at = 0
    for raw, line in zip(lines, with_units(lines)):
        figure, cell = cells(raw)[-2:]
        start = line.rindex("|", 0, -1)
        named = [m.replace("…", "") for m in re.findall(r"`([^`]+)`", figure)]
        loose = re.search(r"all of these|as above|atomics|the same", figure + cell)
        mine = [value for metric, value in limits if loose or any(metric.endswith(n) for n in named)]
        for m in SUM.finditer(line, start) if not re.search(r"\bk\b|\dk|^limit$|--", cell) else ():
            said = evaluate(plain(m.group()), "")[0]
            right = any(agrees(m.group(), said, value, False, False) for value in mine)
            wrong = None if right else f"limit {m.group()} of {', '.join(named)}, and they are {sorted(set(mine))}"
            yield (at + m.start(), at + m.end()), wrong
        at += len(line) + 1


def what_holds(line):
    """Which lines of the table behind this one are held to their source by others; None: it is no mark."""
    return ROW if TIMES.match(line) else ANY_ROW if HELD.match(line) else None


def begins(line, block):
    """Whether a block ends in front of this line."""
    return block and (re.match(r"\s*(?:-|\d\.) ", line) or line.startswith("|") != block.table)


def blocks(text):
    """Comments are taken out first, line for line, so that numbers of lines stay."""
    block, fenced, held, out, lines = None, False, None, [], text.split("\n")
    comments = {text[: m.start()].count("\n"): m.group() for m in re.finditer(r"^<!--.*?-->$", text, flags=re.S | re.M)}
    inside = {i + k for i, c in comments.items() for k in range(c.count("\n") + 1)}
    for i, line in enumerate(lines):
        if i in comments and comments[i].startswith("<!--fig ") and out:
            out[-1].tags.append(comments[i])
        held = what_holds(line) or (held if line.startswith(("|", "<!--")) or not line.strip() else None)
        fenced ^= line.startswith("```")
        if i in inside or fenced or not line.strip() or line.startswith(("    ", "```", "#")):
            block = None
            continue
        if begins(line, block):
            block = None
        if not block:
            block = Block(i + 1, line.startswith("|"))
            out.append(block)
        if not (held and (held.match(line) or lines[i + 1].startswith("|--"))):
            block.lines.append(line)
    return out


def rounding(figure, said):
    """Half of the last digit, also where 43 700 is that of the hundreds, if that is no more than half of a per cent."""
    mantissa, _, power = figure.partition(" · ")
    if power:
        return rounding(mantissa, number(mantissa)) * number(power)
    if not re.fullmatch(r"[\d. ]+", figure):
        return 1e-9
    decimals = figure.partition(".")[2]
    zeros = 0 if decimals else len(figure.replace(" ", "")) - len(figure.replace(" ", "").rstrip("0"))
    return max(0.5 * 10.0 ** -len(decimals), min(0.5 * 10.0**zeros, 0.005 * said) if zeros else 0) * 1.0001


def agrees(figure, said, value, rough, hedged):
    allowed = rounding(figure, said)
    if figure in WORDS or hedged:
        allowed = max(allowed, 0.1 * abs(value))
    return abs(said - value) <= max(allowed, 0.03 * abs(value) if rough else 0)


def entries(tag):
    """(words of the text, expression) of a comment."""
    for entry in MARK.match(tag).group(1).replace("\n", " ").split(";"):
        key, _, expression = entry.partition(": ")
        yield key.strip(), expression.strip()


def leading(key):
    """The figure in these words, its value, and where it begins: the first number, else a number in words."""
    digits = re.search(NUMBER, key) or re.search(DIGITS, key)
    if digits:
        return digits.group(), number(digits.group()), digits.start()
    for word in sorted(WORDS, key=len, reverse=True):
        if re.match(rf"{word}\b", key.lower()):
            return word, WORDS[word], 0
    raise Unknown(f"no figure in {key}")


def places(key, text):
    """Where the figure of these words stands."""
    behind = r"(?![\w⁰-⁹²³]|\.\d| \d{3}\b)" if key[-1].isdigit() else r"(?!\w)" if key[-1].isalpha() else ""
    return [m.start() + leading(key)[2] for m in re.finditer(r"(?<![\w.])" + re.escape(key) + behind, text)]


def check_entry(key, expression, text, page, sources):
    """None, or what is wrong. A source that a reader has to look up is asked for its entry only."""
    figure, said, _ = leading(key)
    found = places(key, text)
    if not found:
        return f"the text does not say {key}"
    kind, _, name = expression.partition(" ")
    if not expression:
        return f"{key}: from where?"
    if kind == "source":
        return None if f"\n### {name}\n" in sources else f"{key}: {name} is not in docs/sources.md"
    if expression == "chosen":
        return None
    if kind == "once":
        return None if name else f"{key}: measured where?"
    value, rough = evaluate(expression, page)
    hedged = any(HEDGE.search(text[:at]) for at in found) or text[found[0] + len(figure) :].startswith(" or so")
    if agrees(figure, said, value, rough, hedged):
        return None
    return f"says {key}, and it is {value:.6g} ({expression})"


def plain(expression):
    """The text's arithmetic as Python's: 2 · 1024 / 3."""
    out = re.sub(DIGITS, lambda m: repr(number(m.group())), expression)
    for sign, operator in ("·", "*"), ("×", "*"), ("−", "-"), ("⌊", "floor("), ("⌋", ")"):
        out = out.replace(sign, operator)
    return out


def equations(text):
    """(where it stands, None or what is wrong) of each piece of arithmetic with numbers alone."""
    for m in EQUATION.finditer(text):
        left, figure = m.group(1).strip(), m.group(2)
        if left.count("(") == left.count(")") + 1:
            left = left.removeprefix("(")
        if left.count("(") != left.count(")") or not re.search(r" [·×/+−] ", left):
            continue
        value, said = evaluate(plain(left), "")[0], number(figure)
        scale = {"K": (1e3, 1024), "M": (1e6, 2**20), "G": (1e9, 2**30), "T": (1e12,)}.get(text[m.end() + 1 : m.end() + 2], ())
        right = any(agrees(figure, said, value / s, False, False) for s in (1, *scale))
        yield m.span(), None if right else f"says {left} = {figure}, and it is {value:.6g}"


def version(text, m):
    """9.0, and no unit behind it."""
    return m.group() in VERSIONS and not re.match(f" ?{UNIT}", text[m.end() :])


def figures(text):
    """Where figures stand."""
    found = [m for m in FIGURE.finditer(text)]
    found += [m for m in COUNTED.finditer(text) if number(m.group()) >= 100]
    found += [m for m in DECIMAL.finditer(text) if "." in m.group()]
    return {m.start() for m in found if not version(text, m)}


class Page:
    """A page's faults: `wrong` and `open`, with their lines; `once`: what no file keeps."""

    def __init__(self, path, sources):
        with open(path) as f:
            self.path, self.content = path, f.read()
        name = path.split("/")[-1].removesuffix(".md")
        self.limits = [(metric, float(limit)) for exercise, metric, limit in rows_of(LIMITS) if exercise == name]
        self.sources, self.wrong, self.open, self.once, self.seen = sources, [], [], [], 0
        for block in blocks(self.content):
            self.check(block)

    def check(self, block):
        text, covered = block.text(), set()
        for tag in block.tags:
            covered |= self.check_tag(tag, text, block.line)
        is_limits = block.lines and cells(block.lines[0])[-1:] == ["limit"]
        for span, wrong in [*equations(text), *(self.check_limits(block) if is_limits else ())]:
            if wrong and span[0] not in covered:
                self.wrong.append((block.line, wrong))
            covered |= set(range(*span))
        found = figures(text)
        self.seen += len(found)
        self.open += [(block.line, text[at : at + 40]) for at in sorted(found - covered)]

    def check_limits(self, block):
        if self.limits:
            return in_limits(block.lines, self.limits)
        return [((0, 0), f"{LIMITS} has none of this exercise: python3 grader/tests/timing/prose_counts.py --limits")]

    def check_tag(self, tag, text, line):
        covered = set()
        for key, expression in entries(tag):
            try:
                covered |= set(places(key, text))
                wrong = check_entry(key, expression, text, self.content, self.sources)
            except Unknown as e:
                wrong = str(e)
            self.wrong += [(line, wrong)] if wrong else []
            self.once += [(line, f"{key}: {expression}")] if expression.startswith("once ") else []
        return covered


def all_pages():
    return [p for pattern in PAGES for p in sorted(glob.glob(pattern)) if not p.endswith("/quiz.md")]


def cited():
    """What the pages cite of docs/results/counted.tsv."""
    text = " ".join(tag for p in all_pages() for tag in MARK.findall(open(p).read())).replace("\n", " ")
    return {(m["ran"], m["by"], m["what"]) for m in NAME.finditer(text) if m["ran"]}


def show(path, rows, what):
    for line, text in rows:
        print(f"{path}:{line}: {what}{text}".replace("\0", "`…`"))


def main(arguments):
    if set(arguments) - {"--once"}:
        sys.exit(__doc__)
    with open("docs/sources.md") as f:
        sources = f.read()
    pages = [Page(p, sources) for p in all_pages()]
    for page in pages:
        show(page.path, page.wrong, "")
        show(page.path, page.open, "no source for ")
        if "--once" in arguments:
            show(page.path, page.once, "measured once: ")
    seen, without, once = (sum(n) for n in zip(*((p.seen, len(p.open), len(p.once)) for p in pages)))
    print(f"{seen} figures in {len(pages)} pages, {without} without a source, {once} measured once")
    return 0 if pages and not without and not any(page.wrong for page in pages) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
