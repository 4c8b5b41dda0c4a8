#!/usr/bin/env python3
"""again.py BUILD [--rounds N]: measures how long a file that was graded before takes. It grades every exercise's model solution once, then
N times again, and prints the medians of wall and processor seconds (children included), the slowest, and the same for `grader list`."""
import argparse, glob, os, statistics, subprocess, sys
from alone import timed


def run(command):
    return timed(lambda: subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("--rounds", type=int, default=5)
    o = p.parse_args()
    root, grader, medians = os.path.dirname(os.path.abspath(__file__)) + "/../../..", os.path.abspath(o.build) + "/grader", []
    for test in sorted(glob.glob(f"{root}/chapters/*/*_test.c")):
        exercise = os.path.relpath(test, f"{root}/chapters")[:-len("_test.c")]
        command = [grader, "run", exercise, "--file", f"{root}/solutions/{exercise}.cu"]
        first = run(command)
        again = [run(command) for _ in range(o.rounds)]
        medians.append([statistics.median(x[k] for x in again) for k in (0, 1)])
        print(f"{exercise:34} first {first[0]:6.2f} s   again {medians[-1][0]:6.3f} s, {medians[-1][1]:6.3f} s of processor", flush=True)
    lists = [run([grader, "list"]) for _ in range(o.rounds)]
    print(f"{len(medians)} exercises: median {statistics.median(m[0] for m in medians):.3f} s, slowest {max(m[0] for m in medians):.3f} s, "
          f"slowest processor time {max(m[1] for m in medians):.3f} s; list {statistics.median(x[0] for x in lists):.3f} s")
    return 0


sys.exit(main())
