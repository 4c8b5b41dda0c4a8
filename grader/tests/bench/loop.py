#!/usr/bin/env python3
"""loop.py BUILD [--rounds N] [EXERCISE…]: measures how long a student waits after an edit. For each exercise (default: all), it builds
the model solution, with a new comment each time, by nvcc and ptxas alone, and grades it by `grader run`, in turns. It prints the medians
of wall and processor seconds, and their quotients. `make bench-loop` runs it; the machine must be idle otherwise."""
import argparse, glob, os, statistics, subprocess, sys, tempfile, time
from alone import flags_of, nvcc_alone, timed


def measured(build, flags, exercise, solution, rounds):
    """Returns the medians of nvcc and of the grader, each (wall, processor) seconds."""
    alone, graded = [], []
    with tempfile.TemporaryDirectory() as at:
        path = f"{at}/{exercise.split('/')[1]}.cu"
        for r in range(rounds):
            open(path, "w").write(f"// {r} {time.time()}\n" + solution)
            alone.append(nvcc_alone(build, [path], flags))
            graded.append(timed(lambda: subprocess.run([f"{build}/grader", "run", exercise, "--file", path], check=True,
                                                       stdout=subprocess.DEVNULL)))
    return [[statistics.median(x[k] for x in runs) for k in (0, 1)] for runs in (alone, graded)]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("exercises", nargs="*")
    p.add_argument("--rounds", type=int, default=3)
    o = p.parse_intermixed_args()
    root, build, quotients = os.path.dirname(os.path.abspath(__file__)) + "/../../..", os.path.abspath(o.build), []
    known = sorted(os.path.relpath(path, f"{root}/chapters")[:-len("_test.c")] for path in glob.glob(f"{root}/chapters/*/*_test.c"))
    wanted = [k for k in known if not o.exercises or k in o.exercises or k.split("/")[1] in o.exercises]
    print(f"{'solution':<38} {'nvcc s':>7} {'cpu s':>7} {'grader s':>9} {'cpu s':>7} {'wall x':>7} {'cpu x':>7}")
    for exercise in wanted:
        solution = open(f"{root}/solutions/{exercise}.cu").read()
        subprocess.run([f"{build}/grader", "run", exercise, "--file", f"{root}/solutions/{exercise}.cu"], check=True, stdout=subprocess.DEVNULL)
        (nw, nc), (gw, gc) = measured(build, flags_of(root, exercise), exercise, solution, o.rounds)
        quotients.append((gw / nw, gc / nc))
        print(f"{exercise:<38} {nw:7.2f} {nc:7.2f} {gw:9.2f} {gc:7.2f} {gw / nw:7.2f} {gc / nc:7.2f}", flush=True)
    if quotients:
        print(f"median of {len(quotients)}: {statistics.median(q[0] for q in quotients):.2f} times the time, "
              f"{statistics.median(q[1] for q in quotients):.2f} times the processors'; most {max(q[0] for q in quotients):.2f}")


sys.exit(main())
