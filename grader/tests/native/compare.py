#!/usr/bin/env python3
"""compare.py BUILD [programs|versions|mutants]... [--only TEXT] [--shard I/N] [--verbose]

Runs the corpus in the interpreter and as native code, and compares everything that can be seen:
what a program prints, its exit status, its counters by line, and the findings. `make check-native`
runs it. Without a kind, it takes all:

  programs   grader/tests/programs and torture by `simgpu run`: --no-native; native code before each
             launch; native code that takes over during launches
  versions   every starter file and ladder step, by `grader run --no-jail`, whose device process may
             compile: the interpreter, and native code before each launch
  mutants    the same for grader/tests/mutants

--only takes the names that contain the text; --shard takes every N-th name from the I-th on;
--verbose also names what is equal.
Objects stay in the cache, so a second run is faster."""
import glob
import json
import os
import re
import subprocess
import sys

IGNORED = re.compile(rb"simgpu: (no native code:|no block yet|\d+ of \d+ blocks)")
MODES = {"interpreter": None, "before": "1", "background": "background"}


def directives(source):
    """The lines `// KEY: VALUE` at the top of a program (grader/tests/unit/test_programs.c)."""
    found = {}
    for line in open(source):
        if not line.startswith("//"):
            break
        key, colon, value = line[2:].partition(":")
        if colon:
            found[key.strip()] = value.strip()
    return found


def environment(mode):
    env = dict(os.environ)
    env.pop("SIMGPU_NATIVE", None)
    if MODES[mode]:
        env["SIMGPU_NATIVE"] = MODES[mode]
    return env


def run(command, env, seconds):
    try:
        done = subprocess.run(command, env=env, capture_output=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return "timeout", b"", b""
    return done.returncode, done.stdout, done.stderr


def program_results(build, source, program, options, mode):
    counters = program + "." + mode + ".json"
    if os.path.exists(counters):
        os.remove(counters)
    command = [build + "/simgpu", "run", *options, "--counters", "json", "--counters-file", counters]
    if mode == "interpreter":
        command.append("--no-native")
    status, out, messages = run([*command, program], environment(mode), 240)
    lines = messages.splitlines(keepends=True)
    # The interpreter runs what gcc didn't compile in time, and a long launch shows its progress.
    ignored = [line for line in lines if IGNORED.match(line)]
    for line in ignored:
        print(f"{source}: {line.decode()}", end="", flush=True)
    result = status, out, b"".join(line for line in lines if line not in ignored)
    text = open(counters, "rb").read() if os.path.exists(counters) else b""
    return (*result, text)


def is_newer(program, sources):
    return os.path.exists(program) and all(os.path.getmtime(s) < os.path.getmtime(program)
                                           for s in sources)


def built_program(build, source, options):
    """Returns the path of the suite's program, which is built if it isn't; None if that fails."""
    program = build + "/tests/" + source.removeprefix("grader/tests/")[:-3]
    if is_newer(program, [source, build + "/lib/libwbcudart.a"]):
        return program
    os.makedirs(os.path.dirname(program), exist_ok=True)
    done = run([build + "/simgpu", "nvcc", *options, source, "-o", program],
               environment("interpreter"), 240)
    return program if done[0] == 0 else None


def check_program(build, source):
    """Returns the modes that differ from the interpreter; None if the program can't be compared."""
    words = directives(source)
    if "not repeatable" in words or "--sample" in words.get("run", ""):
        return None
    program = built_program(build, source, words.get("nvcc", "").split())
    if not program:
        return ["does not build"]
    results = {m: program_results(build, source, program, words.get("run", "").split(), m)
               for m in MODES}
    if results["interpreter"][0] == "timeout":
        return None
    if b"was built with another version" in results["interpreter"][2]:
        return ["is stale: delete it"]
    return [m for m in MODES if results[m] != results["interpreter"]]


def without_times(node):
    """Wall clock and processor time are not results."""
    if isinstance(node, dict):
        return {k: without_times(v) for k, v in node.items() if k != "wall_seconds"}
    return [without_times(v) for v in node] if isinstance(node, list) else node


def exercise_of(source):
    """CHAPTER/EXERCISE of a mutant's folder, or of a file EXERCISE-1-STEP.cu in a chapter."""
    folder = source.split("/")[:-1]
    if folder[:3] == ["grader", "tests", "mutants"]:
        return "/".join(folder[3:5])
    chapter, name = folder[-1], os.path.basename(source)[:-3]
    while not os.path.exists(f"chapters/{chapter}/{name}.cu") and "-" in name:
        name = name.rpartition("-")[0]
    return f"{chapter}/{name}"


def check_version(build, source):
    exercise = exercise_of(source)
    results = {}
    for mode in ("interpreter", "before"):
        status, out, _ = run([build + "/grader", "run", exercise, "--file", source, "--device",
                              "sim:h100", "--seed", "compare", "--format", "json", "--no-jail",
                              "--no-cache"], environment(mode), 600)
        try:
            results[mode] = status, without_times(json.loads(out))
        except ValueError:
            return None if status == "timeout" else [f"{mode}: no JSON"]
    return [m for m in results if results[m] != results["interpreter"]]


KINDS = {
    "programs": (["grader/tests/programs/*.cu", "grader/tests/programs/devices/*.cu",
                  "grader/tests/torture/*.cu"], check_program),
    "versions": (["chapters/*/*.cu", "solutions/*/*.cu"], check_version),
    "mutants": (["grader/tests/mutants/*/*/*.cu"], check_version),
}


def option(arguments, name):
    if name not in arguments:
        return None
    at = arguments.index(name)
    value = arguments[at + 1]
    del arguments[at:at + 2]
    return value


def main(arguments):
    only, shard = option(arguments, "--only"), option(arguments, "--shard") or "0/1"
    verbose = "--verbose" in arguments
    arguments = [a for a in arguments if a != "--verbose"]
    build, kinds = os.path.abspath(arguments[0]), arguments[1:] or list(KINDS)
    first, step = map(int, shard.split("/"))
    equal = skipped = different = 0
    for kind in kinds:
        patterns, check = KINDS[kind]
        names = sorted(name for p in patterns for name in glob.glob(p))
        for name in [n for n in names if not only or only in n][first::step]:
            modes = check(build, name)
            if modes is None:
                skipped += 1
                print(f"{name}: not compared", flush=True)
            elif modes:
                different += 1
                print(f"{name}: differs: {', '.join(modes)}", flush=True)
            else:
                equal += 1
                if verbose:
                    print(f"{name}: equal", flush=True)
    print(f"{equal} equal, {different} different, {skipped} not compared")
    return different != 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
