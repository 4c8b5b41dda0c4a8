#!/usr/bin/env python3
"""own_sizes.py: runs every n-th CUDA program of zjin-lcf/HeCBench under simgpu, at the size of its own Makefile, with a limit of processor time.

    python3 grader/tests/foreign/own_sizes.py FOLDER VERSION [--options=--native] [--simgpu=PATH] [--seconds=120]
    python3 grader/tests/foreign/own_sizes.py --write [--seconds=120]       renews docs/results/public-programs.md from public-programs.tsv

FOLDER is a clone of zjin-lcf/HeCBench; programs are built there. VERSION names a column of the page: rows of public-programs.tsv that it has already are kept.
Run from the top of the tree, after make."""
import argparse, csv, glob, os, re, shlex, signal, subprocess, time

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE, PAGE = "docs/results/public-programs.tsv", "docs/results/public-programs.md"
STEP, COLUMNS = 7, ("program", "arguments", "version", "outcome", "seconds", "said")
LIBRARIES = r"-l(cublas|cublasLt|cudnn|cufft|curand|cusolver|cusparse|gsl|mpi|nccl|cuda\b)|mpicc|mpicxx|boost|MPI"
# What a program prints of its own check.
RIGHT, WRONG = r"\b(PASS|PASSED|pass|passed|SUCCESS|success|Success|Correct|correct|OK|verified|Valid)\b", r"\b(FAIL|FAILED|fail|failed|Fail|ERROR|mismatch|incorrect|Error:)\b"

# A long launch shows its progress, which is no report.
PROGRESS = r"^simgpu: (no block yet|\d+ of \d+ blocks)"
MISSING = r"(?i)could not (be )?(open|find|stat)|cannot open|can't open|no such file|unable to open|error opening"

def makefile(folder, name):
    with open(f"{folder}/src/{name}/Makefile", errors="replace") as f: return f.read()

def run_line(text):
    """The first command of the target `run`: its program and arguments, or None."""
    found = re.search(r"^run:.*\n((?:\t.*\n?)+)", text, re.M)
    lines = [l.strip() for l in found[1].splitlines()] if found else []
    lines = [l for l in lines if re.match(r"(\$\(LAUNCHER\) *)?\./", l)]
    if not lines: return None
    variables = dict(re.findall(r"^(\w+)\s*[:?]?=[ \t]*(.*?)[ \t]*$", text, re.M))
    line = lines[0].replace("$(LAUNCHER)", "")
    while (v := re.search(r"\$[({](\w+)[)}]", line)): line = line.replace(v[0], variables.get(v[1], ""))
    return shlex.split(line)

def chosen(folder):
    """Every STEP-th program by name, of those that a Makefile can run and that need no other library."""
    names = [os.path.basename(os.path.dirname(m)) for m in sorted(glob.glob(f"{folder}/src/*-cuda/Makefile"))]
    texts = {n: makefile(folder, n) for n in names}
    return [n for n in names if re.search(r"^run:", texts[n], re.M) and not re.search(LIBRARIES, texts[n])][::STEP]

def build(simgpu, cwd):
    with open(f"{cwd}/Makefile", errors="replace") as f: arch = "90" if "sm_$(ARCH)" in f.read() else "sm_90"
    made = subprocess.run(["make", f"CC={simgpu} nvcc", f"NVCC={simgpu} nvcc", f"ARCH={arch}"], cwd=cwd, capture_output=True, text=True, errors="replace")
    return made.returncode == 0

def processor_seconds(session):
    """Of the session's processes that live, and of those that they have waited for."""
    total = 0
    for stat in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(stat) as f: fields = f.read().rsplit(")", 1)[1].split()
        except OSError: continue
        if int(fields[3]) == session: total += sum(map(int, fields[11:15]))
    return total / os.sysconf("SC_CLK_TCK")

def run(words, cwd, limit):
    """Status (None: over the limit), processor seconds, and the last part of what it wrote."""
    with open(os.path.join(cwd, "own_sizes.out"), "wb+") as out:
        p = subprocess.Popen(words, cwd=cwd, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)
        over, ended = False, 0
        while not ended:
            over = over or processor_seconds(p.pid) > limit
            if over: os.killpg(p.pid, signal.SIGKILL)
            time.sleep(0.2)
            ended, status, used = os.wait4(p.pid, 0 if over else os.WNOHANG)
        p.returncode = os.waitstatus_to_exitcode(status)
        out.seek(max(0, out.tell() - 200000))
        return None if over else p.returncode, used.ru_utime + used.ru_stime, out.read().decode(errors="replace")

def judge(status, text, missing_file):
    """The outcome, and the line that shows it."""
    lines = text.splitlines()
    reports = [l for l in lines if l.startswith(("simgpu:", "warpbook:")) and (status is None or not re.search(PROGRESS, l))]
    own = [l for l in lines if not l.startswith(("simgpu", "warpbook:", " "))]
    first = lambda ls: ls[0].strip()[:150] if ls else ""
    wrong, right = [l for l in own if re.search(WRONG, l)], [l for l in own if re.search(RIGHT, l)]
    if status is None: return "over the limit", first(reports)
    if status and not reports and (missing_file or re.search(MISSING, text)): return "no input", first([l for l in own if re.search(MISSING, l)] or own[-1:])
    if status: return "failed", first(reports) or f"status {status}: " + first(lines[-1:])
    if reports: return "report", first(reports)
    if wrong: return "wrong", first(wrong)
    return ("right", first(right)) if right else ("no check", first(own[-1:]))

def measure(given):
    folder, simgpu = os.path.abspath(given.folder), os.path.abspath(given.simgpu)
    names = [n for n in chosen(folder) if not given.only or n in given.only.split(",")]
    done = {row["program"] for row in read() if row["version"] == given.version}
    new = not os.path.exists(TABLE)
    with open(TABLE, "a") as f:
        if new: f.write("\t".join(COLUMNS) + "\n")
        for name in names:
            if name in done: continue
            row = outcome(folder, simgpu, name, given)
            f.write("\t".join(re.sub(r"\s+", " ", str(row[c])) for c in COLUMNS) + "\n"), f.flush()
            print(name, row["outcome"], row["seconds"], row["said"], flush=True)

def outcome(folder, simgpu, name, given):
    cwd, row = f"{folder}/src/{name}", dict.fromkeys(COLUMNS, "") | {"program": name, "version": given.version}
    words = run_line(makefile(folder, name))
    if not words: return row | {"outcome": "not one program"}
    row["arguments"] = " ".join(words[1:])
    if not build(simgpu, cwd) or not os.path.exists(os.path.join(cwd, words[0])): return row | {"outcome": "not built"}
    status, spent, text = run([simgpu, "run", "--timeout", "1000", *shlex.split(given.options), *words], cwd, given.seconds)
    said = judge(status, text, any("/" in w and not os.path.exists(os.path.join(cwd, w)) for w in words[1:]))
    return row | {"outcome": said[0], "seconds": f"{spent:.1f}", "said": said[1]}

# ---- the page ----

ENDED = ("right", "no check", "report", "wrong")
MEANINGS = {"right": "it ended, and its own check passed", "no check": "it ended; it doesn't check its result", "report": "it ended with a report",
            "wrong": "it ended, and its own check failed", "over the limit": "it needs more processor time", "failed": "it ended with an error",
            "no input": "a file is missing that the repository doesn't have", "not built": "nvcc or its Makefile refuses",
            "not one program": "its Makefile runs a script"}

TEXT = """\
Every seventh CUDA program, by name, of zjin-lcf/HeCBench (commit f27000a51) that its Makefile can run
and that needs no other library, with the first command of that Makefile's target `run`: 200 to
100 000 repetitions of sizes for a GPU. `simgpu run` gets SECONDS s of processor time for it on two
cores of its own, a minute where both are busy; eight programs ran side by side on a server.

    python3 grader/tests/foreign/own_sizes.py FOLDER now --seconds=SECONDS
    python3 grader/tests/foreign/own_sizes.py --write --seconds=SECONDS

"Now" is a002bdc7. The column 58e30524 is the simulator of 2026-11-23, run only for programs that end
now; three of these it didn't reach. 67 of the 68 programs were run, since the clone lacks a file of
`tsne-cuda`. A report is a fault of the program: `lci-cuda` reads past the end of its table. So do
`ans-cuda`, and `qtclustering-cuda` clears a mask while another thread sets an element of it."""

def read():
    if not os.path.exists(TABLE): return []
    with open(TABLE) as f: return list(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE))

def page(rows, seconds):
    versions = list(dict.fromkeys(r["version"] for r in rows))
    by = {(r["program"], r["version"]): r for r in rows}
    names = list(dict.fromkeys(r["program"] for r in rows))
    count = lambda v, o: sum(by[n, v]["outcome"] == o for n in names if (n, v) in by)
    cell = lambda r: "not run" if not r else r["outcome"] + (f" ({r['seconds']} s)" if r["outcome"] in ENDED else "")
    return "\n".join(["# Public programs at their own sizes", "", TEXT.replace("SECONDS", str(seconds)), "", "| outcome | " + " | ".join(versions) + " | meaning |", "|---|" + "---|" * (len(versions) + 1),
        *(f"| {o} | " + " | ".join(str(count(v, o)) for v in versions) + f" | {MEANINGS[o]} |" for o in MEANINGS if any(count(v, o) for v in versions)), "",
        "## Programs", "", "Seconds are processor time.", "", "| program | arguments | " + " | ".join(versions) + " |", "|---|---|" + "---|" * len(versions),
        *(f"| {n} | {by[n, versions[0]]['arguments'] if (n, versions[0]) in by else ''} | " + " | ".join(cell(by.get((n, v))) for v in versions) + " |" for n in names), ""])

def main():
    options = argparse.ArgumentParser(description="public CUDA programs at their own sizes")
    options.add_argument("folder", nargs="?"), options.add_argument("version", nargs="?")
    options.add_argument("--options", default=""), options.add_argument("--simgpu", default="build/simgpu"), options.add_argument("--only", default="")
    options.add_argument("--seconds", type=float, default=120), options.add_argument("--write", action="store_true")
    given = options.parse_args()
    if given.folder and given.version: measure(given)
    if given.write:
        with open(PAGE, "w") as f: f.write(page(read(), int(given.seconds)))

if __name__ == "__main__":
    main()
