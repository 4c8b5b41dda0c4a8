#!/usr/bin/env python3
"""gradescope.py BUILD: the package of `grader gradescope`, run as Gradescope does: unpacked into a folder laid out as /autograder,
run_autograder called with a submission and its metadata beside it, in a control group without swap of 768 MB and of 256 MB. In the
first every mark is right and the tests add up to it; in the second, where the OS kills nvcc or the simulator, results.json still exists,
without a score and with the reason. setup.sh is only checked as a script; the programs that it would build come from BUILD."""
import argparse, json, os, shutil, subprocess, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from memory import Group, ROOT

ASSIGNMENT = """name = "Homework 1"
seed = "s1"
deadline = 2026-10-01T23:59:00+02:00
[late]
penalty = 10
most_days = 3
[gradescope]
guards = "after_published"
leaderboard = true
[[exercise]]
name = "transpose"
weight = 3
hidden = "private/cases.c"
[[exercise]]
name = "count_equal"
"""
HIDDEN = '#include "common/exercise_hidden.h"\nEX_HIDDEN({{40, 50}}, {{77, 45}, .label = "the odd one"})\n'


def fail(text):
    sys.exit(f"gradescope: {text}")


def package(build, work):
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(f"{work}/private")
    open(f"{work}/hw1.toml", "w").write(ASSIGNMENT)
    open(f"{work}/private/cases.c", "w").write(HIDDEN)
    subprocess.run([f"{build}/grader", "gradescope", f"{work}/hw1.toml", "--output", f"{work}/autograder.zip"], check=True, stdout=subprocess.DEVNULL)
    top = f"{work}/autograder"
    os.makedirs(f"{top}/source")
    subprocess.run(["unzip", "-q", f"{work}/autograder.zip", "-d", f"{top}/source"], check=True)
    for script in ("setup.sh", "run_autograder"):
        if subprocess.run(["sh", "-n", f"{top}/source/{script}"]).returncode or not os.access(f"{top}/source/{script}", os.X_OK):
            fail(f"{script} is no script that can be run")
    book = f"{top}/source/warpbook"
    for name in ("Makefile", "grader/setup.sh", "grader/packages.txt", "chapters/02-coalescing/transpose.cu", "solutions/02-coalescing/transpose.cu"):
        if not os.path.exists(f"{book}/{name}"):
            fail(f"{name} is missing in the package")
    os.makedirs(f"{book}/build")
    for name in ("lib", "libexec"):
        shutil.copytree(f"{build}/{name}", f"{book}/build/{name}")
    shutil.copy(f"{build}/grader", f"{book}/build/grader")
    os.symlink(os.path.realpath(f"{build}/cuda"), f"{book}/build/cuda")
    return top


def run(top, files, limit, created="2026-09-30T10:00:00.000000-07:00"):
    shutil.rmtree(f"{top}/submission", ignore_errors=True)
    shutil.rmtree(f"{top}/source/warpbook/build/cache", ignore_errors=True)
    os.makedirs(f"{top}/submission")
    for name, text in files.items():
        open(f"{top}/submission/{name}", "w").write(text)
    json.dump({"created_at": created, "assignment": {"due_date": "2020-01-01T00:00:00-07:00"}}, open(f"{top}/submission_metadata.json", "w"))
    group = Group(limit)
    p = group.run([f"{top}/source/run_autograder"], env={**os.environ, "AUTOGRADER": top}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    group.close()
    return json.load(open(f"{top}/results/results.json")), p.returncode, group.peak >> 20


def total(r):
    return r["score"] if "score" in r else sum(t["score"] for t in r["tests"])


def near(got, want, what):
    if abs(got - want) > 0.01:
        fail(f"{what}: {got}, not {want}")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    o = p.parse_args()
    build = os.path.abspath(o.build)
    top = package(build, f"{build}/tests/gradescope")
    solution = {n: open(f"{ROOT}/solutions/{c}/{n}").read() for c, n in (("02-coalescing", "transpose.cu"), ("05-atomics-reduction", "count_equal.cu"))}
    r, status, peak = run(top, solution, 768)
    near(total(r), 100, "both solutions")
    near(sum(t["max_score"] for t in r["tests"]), 100, "points in all")
    if len(r["leaderboard"]) != 2 or r["execution_time"] <= 0 or not any(t["visibility"] == "after_published" for t in r["tests"]):
        fail("keys are missing")
    print(f"768 MB: both solutions, {total(r):.1f} points, {r['execution_time']:.0f} s, at most {peak} MiB")
    naive = open(f"{ROOT}/solutions/02-coalescing/transpose-1-coalesced-reads.cu").read()
    r, _, _ = run(top, {"transpose.cu": naive, "count_equal.cu": solution["count_equal.cu"]}, 768)
    near(total(r), 25, "the naive transpose and a solution of a quarter of the weight")
    r, _, _ = run(top, {"transpose.cu": solution["transpose.cu"]}, 768, "2026-10-03T22:00:00Z")
    near(total(r), 75 * 0.7, "three quarters, three days begun late")
    r, _, _ = run(top, {"transpose.cu": solution["transpose.cu"].replace("[", "(", 1), "count_equal.cu": "x" * (2 << 20)}, 768)
    if "score" in r or any("score" in t for t in r["tests"]):
        fail("something that could not be taken has a score")
    print("768 MB: partial points, lateness, and what cannot be taken, as they should be")
    for limit in (256, 40):
        r, status, peak = run(top, solution, limit)
        scored = "score" in r or any("score" in t for t in r["tests"])
        if scored and abs(total(r) - 100) > 0.01:  # an innocent zero
            fail(f"{limit} MB: a mark that is another than with enough memory: {total(r)}")
        if not scored and "not a zero" not in r["output"]:
            fail(f"{limit} MB: no reason: {r}")
        print(f"{limit} MB: " + (f"{total(r):.1f} points" if scored else f"no score: {r['output'][:100]}"))


if __name__ == "__main__":
    main()
