"""Keeps the grader's counts that the prose cites in docs/results/counted.tsv, so that checking the prose runs no grader.

    python3 grader/tests/timing/prose_counts.py                counts all cited ones anew (some minutes); python3 … spmv: that exercise's
    python3 grader/tests/timing/prose_counts.py --missing      counts those that the file lacks; deletes uncited rows
    python3 grader/tests/timing/prose_counts.py --limits       writes docs/results/limits.tsv, all limits of all exercises' Check tests, as graded with the model solutions
    python3 grader/tests/timing/prose_counts.py --check        says which rows of both the grader does not confirm, to 1 %; status 1

Run from the top of the tree, after `make`. A row is one value that `build/grader run EXERCISE --file VERSION --seed ladders --format json` prints:

    shared_read_requests_total            a metric that a Check test limits, per unit of that test; `limit shared_read_requests_total`: its limit
    counter barriers        a counter, of the technique case
    registers               of a thread, in the kernel that has most
    us h100                 the modelled time on that GPU
"""

import concurrent.futures
import csv
import functools
import glob
import json
import os
import subprocess
import sys

KEPT = "docs/results/counted.tsv"
HEAD = ["exercise", "version", "what", "figure"]
LIMITS = "docs/results/limits.tsv"


def path_of(exercise, version):
    """The one file of a version: its step's whole name or number, `solution`, `practice`, `skeleton`, `mutant-NAME`."""
    patterns = {
        "solution": f"solutions/*/{exercise}.cu",
        "practice": f"chapters/*/practice/{exercise}.cu",
        "skeleton": f"chapters/*/{exercise}.cu",
    }
    if version.startswith("mutant-"):
        patterns[version] = f"grader/tests/mutants/*/{exercise}/{version[len('mutant-') :]}.cu"
    found = glob.glob(patterns.get(version, f"solutions/*/{exercise}-{version}*.cu"))
    if len(found) != 1:
        sys.exit(f"{exercise}/{version}: {found or 'no such file'}")
    return found[0]


def report(exercise, version, device):
    command = ["build/grader", "run", exercise, "--file", path_of(exercise, version), "--seed", "ladders", "--no-modelled-speed"]
    command += ["--format", "json", "--threads", "1"] + (["--device", f"sim:{device}"] if device else [])
    out = subprocess.run(command, capture_output=True, text=True)
    try:
        return json.loads(out.stdout)["exercises"][0]
    except (ValueError, KeyError, IndexError):
        sys.exit(f"{' '.join(command)}: {out.stdout[-300:]}{out.stderr[-300:]}")


def figure(result, what):
    first, _, rest = what.partition(" ")
    if first == "us":
        return result["speed"]["student_us"]
    if first == "counter":
        return result["counters"][rest]
    if first == "registers":
        return max(k["registers"] for k in result["kernels"])
    value, metric = ("limit", rest) if first == "limit" else ("value", what)
    return next(t[value] for t in result["technique"] if t["metric"] == metric)


@functools.cache
def rows_of(path):
    """Those of a table in the tree, without the head; none where there is no file."""
    if not os.path.exists(path):
        return []
    with open(path) as f:
        return [tuple(r) for r in csv.reader(f, delimiter="\t")][1:]


def kept():
    """{(exercise, version, what): figure}"""
    return {r[:3]: float(r[3]) for r in rows_of(KEPT)}


def run(job, rows):
    """The figures of one run: rows of one version, on one device."""
    result = report(*job)
    try:
        return {row: figure(result, row[2]) for row in rows}
    except (StopIteration, KeyError, TypeError):
        limited = sorted({t["metric"] for t in result["technique"]})
        sys.exit(f"{job}: the grader says nothing of one of {[r[2] for r in rows]}; of {limited}, it does")


def count(rows):
    jobs = {}
    for exercise, version, what in rows:
        device = what[len("us ") :] if what.startswith("us ") else ""
        jobs.setdefault((exercise, version, device), []).append((exercise, version, what))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(run, job, rows) for job, rows in jobs.items()]
        return {row: value for r in runs for row, value in r.result().items()}


def write(figures):
    with open(KEPT, "w") as f:
        print(*HEAD, sep="\t", file=f)
        for row, value in sorted(figures.items()):
            print(*row, f"{value:.8g}", sep="\t", file=f)


def limits():
    """[(exercise, metric, limit)] of every exercise; a metric may have several."""
    names = sorted(path.split("/")[-1][: -len("_test.c")] for path in glob.glob("chapters/*/*_test.c"))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda name: report(name, "solution", "")["technique"], names)
        return sorted({(n, t["metric"], f"{t['limit']:.8g}") for n, tests in zip(names, found) for t in tests})


def write_limits():
    with open(LIMITS, "w") as f:
        for row in [("exercise", "metric", "limit"), *limits()]:
            print(*row, sep="\t", file=f)


def main(arguments):
    from prose import cited  # which looks figures up here

    if arguments == ["--limits"]:
        return write_limits()
    rows, old = cited(), kept()
    names = [a for a in arguments if not a.startswith("--")]
    if {a for a in arguments if a.startswith("--")} - {"--missing", "--check"} or set(names) - {r[0] for r in rows}:
        sys.exit(__doc__)
    new = count([r for r in rows if (not names or r[0] in names) and ("--missing" not in arguments or r not in old)])
    wrong = [r for r in new if "--check" in arguments and abs(new[r] - old.get(r, -1)) > 0.01 * abs(new[r])]
    for r in wrong:
        print(f"{KEPT}: {' '.join(r)} is {new[r]:.8g}, not {old.get(r)}")
    if "--check" in arguments and not names and limits() != rows_of(LIMITS):
        wrong.append(LIMITS)
        print(f"{LIMITS} is not what the tests limit now: prose_counts.py --limits")
    if "--check" not in arguments:
        write({r: v for r, v in old.items() if r in rows} | new)
    print(f"{len(new)} of {len(rows)} rows counted")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
