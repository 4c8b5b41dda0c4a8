#!/usr/bin/env python3
"""sanitizer.py: compares the findings of compute-sanitizer and the simulator: in the torture programs (docs/results/sanitizer.md),
and in the pairs of grader/tests/mistakes (docs/results/sanitizer-mistakes.md).

    python3 grader/tests/gpu/sanitizer.py            writes the pages from the .tsv files, and what the programs say of simgpu's findings
    python3 grader/tests/gpu/sanitizer.py --check    status 1 if a page is not what would be written
    python3 grader/tests/gpu/sanitizer.py --build    builds the programs without figures into build/tests/sanitizer, with nvcc
    python3 grader/tests/gpu/sanitizer.py --measure  on a machine with a GPU, nvcc and compute-sanitizer: builds what isn't built, and
                                                     writes the figures of programs that have none; of all, after the files are deleted.
                                                     A number of seconds behind it ends the measurement

Run from the top of the tree, after the suite `mistakes`, which writes its programs' sources. A program that is newer than the
figures has none."""
import collections, concurrent.futures, csv, glob, os, re, subprocess, sys, textwrap, time

HERE = os.path.dirname(os.path.abspath(__file__))
TORTURE, MISTAKES = os.path.join(HERE, "..", "torture"), os.path.join(HERE, "..", "mistakes")
WORK = "build/tests/sanitizer"
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
SECONDS = 12

class Torture:
    """A program a file, named after it."""
    figures, page = f"{HERE}/sanitizer-h100.tsv", "docs/results/sanitizer.md"
    title = "compute-sanitizer and the simulator"
    about = ("`simgpu run` (a program's `.expected`), for each program of `grader/tests/torture`. "
             "`grader/tests/gpu/sanitizer.py` writes it from `grader/tests/gpu/sanitizer-h100.tsv`; with "
             "`--measure`, it runs programs without figures on a GPU.")
    right = "Programs named `*_ok` or `silent*` are correct by the rules of `docs/simgpu.md`."
    def names(): return sorted(os.path.basename(p)[:-3] for p in glob.glob(f"{TORTURE}/*.cu"))
    def source(name): return f"{TORTURE}/{name}.cu"
    def command(name): return [f"{WORK}/{name}"]
    def options(name): return next((m[1].split() for l in open(Torture.source(name)) if (m := re.match(r"// nvcc: (.*)", l))), [])
    def is_right(name): return name.endswith("_ok") or name.startswith("silent")
    def ours(name):
        """Returns the kinds of simgpu's findings, without notes."""
        kinds = collections.OrderedDict()
        for line in open(f"{TORTURE}/{name}.expected", errors="replace"):
            m = re.match(r"simgpu: ([a-z][a-z' -]+): ", line)
            if m and m[1] != "note" and not re.search(r"\d+ more in \d+ later launches", line): kinds[m[1]] = True
        return list(kinds)

class Mistakes:
    """Programs named CHAPTER/right_NAME and CHAPTER/mistake_NAME: the suite `mistakes` makes one source of each chapter, whose program
    takes the rest of the name as its argument; `right` stands for all correct ones."""
    figures, page = f"{HERE}/sanitizer-mistakes-h100.tsv", "docs/results/sanitizer-mistakes.md"
    title = "compute-sanitizer and the mistakes that the lessons warn of"
    about = ("`simgpu run` (the report that the suite `mistakes` requires), for each pair of programs of `grader/tests/mistakes` "
             "([list](mistakes.md)). `grader/tests/gpu/sanitizer.py` writes it from `grader/tests/gpu/sanitizer-mistakes-h100.tsv`; with "
             "`--measure`, it runs programs without figures on a GPU.")
    right = ("A program `mistake_*` makes a mistake; its twin, `right_*`, doesn't, and stands here only where a tool reports it: "
             "the simulator reports none. (synccheck takes warps that meet at one named barrier from two places of the code for divergent "
             "ones; PTX allows that.)")
    def names(): return sorted(re.sub(r".*/(.*)/(.*)\.cu", rf"\1/{kind}_\2", p) for p in glob.glob(f"{MISTAKES}/*/*.cu")
                               for kind in ("mistake", "right"))
    def source(name): return f"build/tests/mistakes/{name.split('/')[0]}.cu"
    def command(name): return [f"{WORK}/{name.split('/')[0]}", name.split("/")[1]]
    def options(name): return ["-gencode", "arch=compute_90a,code=sm_90a", "-std=c++17", "-I.", f"-I{MISTAKES}/{name.split('/')[0]}"]
    def is_right(name): return "/right_" in name
    def ours(name):
        path = f"{MISTAKES}/{name.replace('mistake_', '')}.cu"
        return [] if Mistakes.is_right(name) else [m[1] for l in open(path) if (m := re.match("// expect: (.*)", l))]

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

def figures(corpus):
    if not os.path.exists(corpus.figures): return {}
    with open(corpus.figures) as f:
        rows = list(csv.DictReader((l for l in f if not l.startswith("#")), delimiter="\t", quoting=csv.QUOTE_NONE))
    table = collections.defaultdict(dict)
    for r in rows: table[r["program"]][r["tool"]] = r
    return table

def found(said): return any(not v.startswith(("killed", "no answer")) for v in said.values())

def page(corpus):
    table, names = figures(corpus), corpus.names()
    notes = [l[2:].strip() for l in open(corpus.figures) if l.startswith("# ")]
    have = [n for n in names if len(table.get(n, {})) == len(TOOLS) and all(r["exit"] not in ("999", "unfinished") for r in table[n].values())]
    missing = [n for n in names if n not in have]
    both, only_us, only_them, neither = [], [], [], []
    wrap = lambda text: textwrap.fill(text, 119, break_long_words=False, break_on_hyphens=False)
    out = [f"# {corpus.title}", "",
           wrap(f"This page compares compute-sanitizer's four tools on a GPU with {corpus.about} " + " ".join(notes)), "",
           wrap("A number counts errors. \"killed\": no finding within 12 s or 20 s, often because the program never ends on a GPU. "
                + corpus.right), "",
           "| program | memcheck | racecheck | initcheck | synccheck | simgpu |", "|---|---|---|---|---|---|"]
    for n in have:
        said, kinds = theirs(table[n]), corpus.ours(n)
        (both if found(said) and kinds else only_us if kinds else only_them if found(said) else neither).append(n)
        if corpus is Torture or said or kinds or not corpus.is_right(n):
            out.append(f"| `{n}` | " + " | ".join(said.get(t, "") for t in TOOLS) + f" | {', '.join(kinds)} |")
    right = [n for n in have if corpus.is_right(n)]
    alarms = [n for n in right if found(theirs(table[n]))]
    def listed(names): return ", ".join(f"`{n}`" for n in names) or "none"
    points = [
        f"{len(have)} programs ran under both. Both report findings in {len(both)}, only the simulator in {len(only_us)}, only "
        f"compute-sanitizer in {len(only_them)}, neither in {len(neither)}.",
        f"Only the simulator: {listed(only_us)}.",
        f"Only compute-sanitizer: {listed(only_them)}.",
        f"Of {len(right)} correct programs, compute-sanitizer reports findings in {len(alarms)}: {listed(alarms)}; the simulator in "
        f"{sum(bool(corpus.ours(n)) for n in right)}.",
        f"Without figures, because they are newer or did not finish on the GPU: {listed(missing)}."]
    out += ["", "## Summary", ""] + [textwrap.fill("- " + p, 119, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False) for p in points]
    out += ["", wrap("This doesn't show that one tool is better, because the programs were written for the simulator's rules. compute-sanitizer "
                     "checks machine code, in which the compiler has fixed what the language leaves open, and racecheck does not check global "
                     "memory."), ""]
    return "\n".join(out)

def rows_of(corpus):
    """Returns the rows of programs with figures of every tool, and the programs that have none, wrong ones first."""
    rows = open(corpus.figures).read().splitlines()[1:] if os.path.exists(corpus.figures) else []
    finished = collections.Counter(row.split("\t")[0] for row in rows if row.split("\t")[2:3] != ["unfinished"])
    old = [row for row in rows if row.startswith("# ") or finished[row.split("\t")[0]] == len(TOOLS)]
    return old, sorted((n for n in corpus.names() if finished[n] < len(TOOLS)), key=corpus.is_right)

def build(corpus, todo):
    """Compiles each source once: the programs of a chapter share theirs."""
    def compile(name):
        program, options = corpus.command(name)[0], corpus.options(name)
        device = [] if any("arch" in o for o in options) else ["-arch=sm_90"]
        subprocess.run(["nvcc", *device, "-lineinfo", *options, "-o", program, corpus.source(name)], check=True)
    os.makedirs(WORK, exist_ok=True)
    programs = {corpus.command(n)[0]: n for n in todo}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile, [n for p, n in programs.items() if not os.path.exists(p)]))

def run(corpus, name, tool, end, seconds=SECONDS):
    """Returns a row. A program that hangs ends with its tool, else it would slow down all others."""
    if time.time() > end: return "\t".join([name, tool, "unfinished", "none", "none"])
    with subprocess.Popen(["compute-sanitizer", "--tool", tool, *corpus.command(name)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, errors="replace", start_new_session=True) as p:
        try: said, status = p.communicate(timeout=seconds)[0], p.returncode
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, 9)
            said, status = p.communicate()[0], 137
    lines = [l for l in said.splitlines() if l.startswith("=========")]
    summary = ";".join(m[0] for l in lines if (m := re.search(r"(ERROR|RACECHECK) SUMMARY: .*", l)))
    first = next((l for l in lines if not re.search("COMPUTE-SANITIZER|SUMMARY|^=========$", l)), "none")
    return "\t".join([name, tool, str(status), summary or "none", first.replace("\t", " ")[:200]])

def run_twins(corpus, todo, tool, end):
    """Returns rows of a chapter's correct programs, which run as one program; or none, if that has findings."""
    row = run(corpus, todo[0].split("_")[0], tool, end, 60).split("\t")
    is_clean = row[2] == "0" and re.match(r"\w+ SUMMARY: 0 ", row[3])
    return ["\t".join([n, *row[1:]]) for n in todo] if is_clean else []

def measure(corpus, end):
    old, todo = rows_of(corpus)
    build(corpus, todo)
    twins = collections.defaultdict(list)
    for n in todo if corpus is Mistakes else []:
        if corpus.is_right(n): twins[n.split("/")[0]].append(n)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        clean = list(pool.map(lambda job: run_twins(corpus, *job, end), [(c, t) for c in twins.values() for t in TOOLS]))
        rows = [row for some in clean for row in some]
        have = {tuple(row.split("\t")[:2]) for row in rows}
        rows += pool.map(lambda job: run(corpus, *job, end), [(n, t) for n in todo for t in TOOLS if (n, t) not in have])
    with open(corpus.figures, "w") as f:
        f.write("program\ttool\texit\tsummary\tfirst finding\n" + "\n".join(sorted(old + rows, key=lambda l: l.split("\t")[0])) + "\n")

def main():
    corpora = (Mistakes, Torture)
    if "--build" in sys.argv: return [build(c, rows_of(c)[1]) for c in corpora] and 0
    if "--measure" in sys.argv:
        seconds = [float(a) for a in sys.argv[1:] if a.isdigit()] or [float("inf")]
        end = time.time() + seconds[0]
        return [measure(c, end) for c in corpora] and 0
    written = {c.page: page(c) for c in corpora}
    if "--check" in sys.argv:
        stale = [p for p, text in written.items() if open(p).read() != text]
        return 1 if [print(f"{p}: python3 {sys.argv[0]}") for p in stale] else 0
    for p, text in written.items(): open(p, "w").write(text)

if __name__ == "__main__":
    sys.exit(main())
