#!/usr/bin/env python3
"""foreign.py: tests simgpu with public CUDA programs. Builds and runs each row of the tables in this folder, and compares the outcome with its class.

    python3 grader/tests/foreign/foreign.py FOLDER             every program whose sources are there: FOLDER/OWNER/NAME/PATH
    python3 grader/tests/foreign/foreign.py FOLDER --only TEXT those whose repository or path contains TEXT
    python3 grader/tests/foreign/foreign.py FOLDER --write     also writes docs/results/programs.md

Run from the top of the tree, after make. README.md beside this file has the columns and the classes. Exit status 1 if a row differs."""
import argparse, collections, concurrent.futures, csv, datetime, glob, os, re, shlex, subprocess, sys, textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
SIMGPU, WORK, PAGE = os.path.abspath("build/simgpu"), os.path.abspath("build/tests/foreign"), "docs/results/programs.md"
SECONDS, DEVICE = 600, "H200"
COLUMNS = ("repository", "commit", "path", "build flags", "arguments", "outcome class", "reason")
# What may be seen of a program of each class; the first column of the page's totals.
SEEN = {"clean": {"silent"}, "correct report": {"reported"}, "false report": {"reported"},
        "wrong result": {"silent", "reported", "failed"}, "refused": {"reported", "failed"}, "slow": {"slow", "reported"},
        "does not build": {"does not build"}}
PASSED = ("clean", "correct report")

def rows():
    found = []
    for name in sorted(glob.glob(f"{HERE}/*.tsv")):
        with open(name) as f:
            for row in csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE):
                if tuple(row) != COLUMNS or None in row.values() or row["outcome class"] not in SEEN: sys.exit(f"{name}: {row}: no such columns or class")
                found.append(row)
    return found

def sources(row, folder):
    """The files that nvcc is given, and those that it makes into an image first, with the image's name."""
    words = [w.split("=") for w in row["path"].split()]
    at = lambda p: os.path.join(folder, row["repository"], p)
    return [at(w[0]) for w in words if len(w) == 1], [(at(w[0]), w[1]) for w in words if len(w) == 2]

def title(row): return f"{row['repository']}/{row['path'].split()[0].split('=')[0]}" + (f" {row['arguments']}" if row["arguments"] else "")

def command(words, cwd, seconds):
    """Status (None if it took too long) and what it said on both streams."""
    try:
        r = subprocess.run(words, cwd=cwd, capture_output=True, timeout=seconds, stdin=subprocess.DEVNULL)
        return r.returncode, r.stdout.decode(errors="replace"), r.stderr.decode(errors="replace")
    except subprocess.TimeoutExpired as e: return None, *((s or b"").decode(errors="replace") for s in (e.stdout, e.stderr))

def build(row, folder, cwd):
    flags = shlex.split(row["build flags"].replace("{}", os.path.join(folder, row["repository"])))
    plain, images = sources(row, folder)
    links = [f for f in flags if f.startswith("-l") and f != "-lineinfo"]
    compiles = [f for f in flags if f not in links]
    jobs = [["-" + image.rsplit(".", 1)[1], *compiles, source, "-o", image] for source, image in images] + [[*compiles, *plain, "-o", "program", *links]]
    for job in jobs:
        status, out, err = command([SIMGPU, "nvcc", *job], cwd, 600)
        if status: return status, out, err
    return 0, out, err

def look(row, folder):
    """What is seen of a program: the word for it, and its output."""
    cwd = os.path.join(WORK, re.sub(r"[^A-Za-z0-9]+", "_", title(row)))
    os.makedirs(cwd, exist_ok=True)
    status, out, err = build(row, folder, cwd)
    if status: return "does not build", out + err
    warned = "simgpu nvcc: " in err # of a library that will not do
    status, out, err = command([SIMGPU, "run", "--device", DEVICE, "./program", *shlex.split(row["arguments"])], cwd, SECONDS)
    wanted = int(m[1]) if (m := re.search(r"\bstatus (\d+)", row["reason"])) else 0
    said = warned or any(line.startswith(("simgpu:", "warpbook:")) for line in err.splitlines())
    return "slow" if status is None else "reported" if said else "failed" if status != wanted else "silent", out + err

def judge(row, folder):
    """Returns the first difference from the row, or an empty text."""
    seen, output = look(row, folder)
    missing = [t for t in re.findall(r"`([^`]+)`", row["reason"]) if t not in output]
    if seen not in SEEN[row["outcome class"]]: return f"{row['outcome class']} in the table, but {seen}", output
    return (f"did not print `{missing[0]}`" if missing else ""), output

def wrap(text): return textwrap.fill(text, 119, break_long_words=False, break_on_hyphens=False)

def page(all_rows):
    counts = collections.Counter(r["outcome class"] for r in all_rows)
    built = len(all_rows) - counts["does not build"]
    passed = sum(counts[c] for c in PASSED)
    nvcc = re.search(r"release ([\d.]+)", subprocess.run([SIMGPU, "nvcc", "--version"], capture_output=True, text=True).stdout)[1]
    out = ["# Public programs under simgpu", "",
           wrap(f"`python3 grader/tests/foreign/foreign.py FOLDER --write`, {datetime.date.today()}, as an {DEVICE}, nvcc {nvcc}: {len(all_rows)} programs of "
                f"{len({r['repository'] for r in all_rows})} public repositories, none written for the simulator. `grader/tests/foreign/README.md` explains the "
                "outcomes and lists the sources."), "",
           wrap(f"Of the {built} programs that nvcc builds, {passed} run correctly, without a report or with a correct one: {100 * passed / max(built, 1):.0f} %."), "",
           "| outcome | programs |", "|---|---|", *(f"| {c} | {counts[c]} |" for c in SEEN), ""]
    others = [r for r in all_rows if r["outcome class"] != "clean"]
    if others: out += ["## Not clean", "", "| program | outcome | reason |", "|---|---|---|", *(f"| {title(r)} | {r['outcome class']} | {r['reason']} |" for r in others), ""]
    out += ["## Clean", ""]
    for repository in sorted({r["repository"] for r in all_rows}):
        names = [title(r)[len(repository) + 1:] + (f" ({r['reason']})" if r["reason"] else "") for r in all_rows if r["repository"] == repository and r["outcome class"] == "clean"]
        if names: out += [f"{repository}:", "", *(f"- {n}" for n in names), ""]
    return "\n".join(out)

def main():
    options = argparse.ArgumentParser(description="public CUDA programs under simgpu")
    options.add_argument("folder"), options.add_argument("--only", default=""), options.add_argument("--write", action="store_true")
    given = options.parse_args()
    folder = os.path.abspath(given.folder)
    chosen = [r for r in rows() if given.only in title(r)]
    here = [r for r in chosen if all(map(os.path.exists, [*sources(r, folder)[0], *(s for s, _ in sources(r, folder)[1])]))]
    differ = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for row, (why, output) in zip(here, pool.map(lambda r: judge(r, folder), here)):
            if why: print(f"{title(row)}: {why}\n{textwrap.indent(output[-2000:], '    ')}", flush=True)
            differ += bool(why)
    print(f"{len(here)} programs, {differ} differ from their row; sources of {len(chosen) - len(here)} are missing")
    if given.write and not differ and here: open(PAGE, "w").write(page(here))
    return 1 if differ else 0

if __name__ == "__main__":
    sys.exit(main())
