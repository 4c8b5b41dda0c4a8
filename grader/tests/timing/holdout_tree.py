#!/usr/bin/env python3
"""Measures versions that no fit of the time model has seen: the mutants with partial points.

usage: holdout_tree.py --tree FOLDER        make FOLDER, a copy of the book whose ladders hold these mutants
       holdout_tree.py REPORT.json [REGEX]  print a row a mutant: measured, modelled, interval

`grader gpu-report` measures the steps of each ladder. So the copy's ladders consist of the baseline,
which scoring needs, and of the mutants that say `// expect: PART`: right results, few goals. Build
the copy, run `grader gpu-report OUT --device gpu` in it on a machine with a GPU, and give its
report.json to the second form; its rows are those of docs/results/h100/holdout.tsv."""
import glob
import json
import os
import re
import shutil
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
STEP = "9-mutant-"  # the digit makes the file a step of the ladder


def read(path):
    with open(path) as f:
        return f.read()


def keep_baseline(tree, exercise):
    """Removes all steps but the baseline: the ladder itself was measured before."""
    chapter, name = exercise.split("/")
    baseline = re.search(r'\.baseline = "([^"]+)"', read(f"{tree}/chapters/{exercise}_test.c"))
    for path in glob.glob(f"{tree}/solutions/{chapter}/{name}-[0-9]*.cu"):
        if not baseline or not path.endswith(f"-{baseline.group(1)}.cu"):
            os.remove(path)


def make_tree(tree):
    """Copies the book, and the mutants into its ladders."""
    for folder in ("chapters", "solutions", "grader", "common"):
        shutil.copytree(f"{ROOT}/{folder}", f"{tree}/{folder}")
    count = 0
    for test in sorted(glob.glob(f"{tree}/chapters/*/*_test.c")):
        chapter, name = test.split("/")[-2], os.path.basename(test)[:-len("_test.c")]
        keep_baseline(tree, f"{chapter}/{name}")
        for mutant in sorted(glob.glob(f"{tree}/grader/tests/mutants/{chapter}/{name}/*.cu")):
            if read(mutant).startswith("// expect: PART"):
                shutil.copy(mutant, f"{tree}/solutions/{chapter}/{name}-{STEP}{os.path.basename(mutant)}")
                count += 1
    print(f"{count} mutants are steps of the ladders in {tree}")


def print_rows(report, pattern):
    """One row a mutant that has a measured time; times in µs."""
    print("exercise\tmutant\tmeasured_us\tvs_solution\tmodelled_us\tmin_us\tmax_us\tbound_by")
    for exercise in report["exercises"]:
        for version, t in sorted(exercise["times"].items()):
            if version and not version.startswith(STEP):
                continue
            name = version[len(STEP):] or "(solution)"
            if re.search(pattern, f"{exercise['exercise']}/{name}"):
                print(exercise["exercise"], name, f"{t['measured_us']:.2f}", f"{t['vs_solution']:.4f}",
                      f"{t['modelled_us']:.2f}", *(f"{x:.2f}" for x in t["modelled_interval_us"]),
                      t["bound_by"], sep="\t")


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--tree":
        make_tree(sys.argv[2])
    elif len(sys.argv) in (2, 3) and not sys.argv[1].startswith("-"):
        print_rows(json.loads(read(sys.argv[1])), sys.argv[2] if len(sys.argv) == 3 else "")
    else:
        sys.exit(__doc__)


main()
