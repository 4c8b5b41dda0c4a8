#!/usr/bin/env python3
"""sanitizer.py: compares the findings of compute-sanitizer and the simulator in the torture programs: docs/results/sanitizer.md.

    python3 grader/tests/gpu/sanitizer.py            writes the page from sanitizer-h100.tsv and the programs' .expected
    python3 grader/tests/gpu/sanitizer.py --check    status 1 if the page is not what would be written
    python3 grader/tests/gpu/sanitizer.py --measure  on a machine with a GPU, nvcc and compute-sanitizer: the .tsv of programs without
                                                     figures; of all, after the file is deleted

Run from the top of the tree. A program that is newer than the figures has none."""
import collections, concurrent.futures, csv, glob, os, re, subprocess, sys, textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
TORTURE = os.path.join(HERE, "..", "torture")
FIGURES, PAGE = f"{HERE}/sanitizer-h100.tsv", "docs/results/sanitizer.md"
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
SECONDS = 12

def programs(): return sorted(os.path.basename(p)[:-3] for p in glob.glob(f"{TORTURE}/*.cu"))

def ours(name):
    """Returns the kinds of simgpu's findings, without notes."""
    kinds = collections.OrderedDict()
    for line in open(f"{TORTURE}/{name}.expected", errors="replace"):
        m = re.match(r"simgpu: ([a-z][a-z' -]+): ", line)
        if m and m[1] != "note" and not re.search(r"\d+ more in \d+ later launches", line): kinds[m[1]] = True
    return list(kinds)

def counted(n, what): return f"{n} {what}{'s' * (n != 1)}"

def theirs(rows):
    """Returns each tool's count of errors; "killed" if it had no finding when its time was over."""
    said = {}
    for tool, row in rows.items():
        m = re.search(r"(?:ERROR|RACECHECK) SUMMARY: (\d+)", row["summary"])
        if m and int(m[1]):
            hazards = re.search(r"\((\d+) errors?, (\d+) warnings?", row["summary"])
            said[tool] = ", ".join(counted(int(n), what) for n, what in zip(hazards.groups(), ("error", "warning")) if n != "0") if hazards else m[1]
        elif not m: said[tool] = "killed" if row["exit"] == "137" else f"no answer ({row['exit']})"
    return said

def figures():
    with open(FIGURES) as f:
        rows = list(csv.DictReader((l for l in f if not l.startswith("#")), delimiter="\t", quoting=csv.QUOTE_NONE))
    table = collections.defaultdict(dict)
    for r in rows: table[r["program"]][r["tool"]] = r
    return table

def found(said): return any(not v.startswith(("killed", "no answer")) for v in said.values())

def page():
    table, names = figures(), programs()
    notes = [l[2:].strip() for l in open(FIGURES) if l.startswith("# ")]
    have = [n for n in names if len(table.get(n, {})) == len(TOOLS) and all(r["exit"] not in ("999", "unfinished") for r in table[n].values())]
    missing = [n for n in names if n not in have]
    both, only_us, only_them, neither = [], [], [], []
    wrap = lambda text: textwrap.fill(text, 119, break_long_words=False, break_on_hyphens=False)
    out = ["# compute-sanitizer and the simulator", "",
           wrap("This page compares compute-sanitizer's four tools on a GPU with `simgpu run` (a program's `.expected`), for each program of "
                "`grader/tests/torture`. `grader/tests/gpu/sanitizer.py` writes it from `grader/tests/gpu/sanitizer-h100.tsv`; with "
                "`--measure`, it runs programs without figures on a GPU. " + " ".join(notes)), "",
           wrap("A number counts errors. \"killed\": no finding within 12 s or 20 s, often because the program never ends on a GPU. Programs "
                "named `*_ok` or `silent*` are correct by the rules of `docs/simgpu.md`."), "",
           "| program | memcheck | racecheck | initcheck | synccheck | simgpu |", "|---|---|---|---|---|---|"]
    for n in have:
        said, kinds = theirs(table[n]), ours(n)
        (both if found(said) and kinds else only_us if kinds else only_them if found(said) else neither).append(n)
        out.append(f"| `{n}` | " + " | ".join(said.get(t, "") for t in TOOLS) + f" | {', '.join(kinds)} |")
    right = [n for n in have if n.endswith("_ok") or n.startswith("silent")]
    alarms = [n for n in right if found(theirs(table[n]))]
    def listed(names): return ", ".join(f"`{n}`" for n in names) or "none"
    points = [
        f"{len(have)} programs ran under both. Both report findings in {len(both)}, only the simulator in {len(only_us)}, only "
        f"compute-sanitizer in {len(only_them)}, neither in {len(neither)}.",
        f"Only the simulator: {listed(only_us)}.",
        f"Only compute-sanitizer: {listed(only_them)}.",
        f"Of {len(right)} correct programs, compute-sanitizer reports findings in {len(alarms)}: {listed(alarms)}; the simulator in "
        f"{sum(bool(ours(n)) for n in right)}.",
        f"Without figures, because they are newer or did not finish on the GPU: {listed(missing)}."]
    out += ["", "## Summary", ""] + [textwrap.fill("- " + p, 119, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False) for p in points]
    out += ["", wrap("This doesn't show that one tool is better, because the programs were written for the simulator's rules. compute-sanitizer "
                     "checks machine code, in which the compiler has fixed what the language leaves open, and racecheck does not check global "
                     "memory."), ""]
    return "\n".join(out)

def measure(work="build/tests/sanitizer"):
    os.makedirs(work, exist_ok=True)
    def run(job):
        name, tool = job
        try:
            r = subprocess.run(["compute-sanitizer", "--tool", tool, f"{work}/{name}"], capture_output=True, text=True, errors="replace", timeout=SECONDS)
            status, said = r.returncode, r.stdout
        except subprocess.TimeoutExpired as e: status, said = 137, (e.stdout or b"").decode(errors="replace")
        lines = [l for l in said.splitlines() if l.startswith("=========")]
        summary = ";".join(m[0] for l in lines if (m := re.search(r"(ERROR|RACECHECK) SUMMARY: .*", l)))
        first = next((l for l in lines if not re.search("COMPUTE-SANITIZER|SUMMARY|^=========$", l)), "none")
        return "\t".join([name, tool, str(status), summary or "none", first.replace("\t", " ")[:200]])
    def build(name):
        options = [m[1].split() for l in open(f"{TORTURE}/{name}.cu") if (m := re.match(r"// nvcc: (.*)", l))]
        options = options[0] if options else []
        device = [] if any("arch" in o for o in options) else ["-arch=native"]
        subprocess.run(["nvcc", *device, "-lineinfo", *options, "-o", f"{work}/{name}", f"{TORTURE}/{name}.cu"], check=True)
    old = open(FIGURES).read().splitlines()[1:] if os.path.exists(FIGURES) else []
    old = [line for line in old if line.split("\t")[2:3] != ["unfinished"]]
    known = {line.split("\t")[0] for line in old}
    todo = [n for n in programs() if n not in known]
    with concurrent.futures.ThreadPoolExecutor(14) as pool:
        list(pool.map(build, todo))
        rows = list(pool.map(run, [(n, t) for n in todo for t in TOOLS]))
    with open(FIGURES, "w") as f: f.write("program\ttool\texit\tsummary\tfirst finding\n" + "\n".join(sorted(old + rows, key=lambda l: l.split("\t")[0])) + "\n")

def main():
    if "--measure" in sys.argv: return measure()
    text = page()
    if "--check" in sys.argv: return 0 if open(PAGE).read() == text else print(f"{PAGE}: python3 {sys.argv[0]}") or 1
    open(PAGE, "w").write(text)

if __name__ == "__main__":
    sys.exit(main())
