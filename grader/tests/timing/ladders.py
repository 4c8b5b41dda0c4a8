"""Writes the tables of times in the ladders' texts: modelled times, and the GPU times of docs/results.

    python3 grader/tests/timing/ladders.py transpose alias_trap    (re)writes the tables of these exercises
    python3 grader/tests/timing/ladders.py --check                 says which tables are more than 3 % off; status 1
    python3 grader/tests/timing/ladders.py --measured              renews the rows of GPUs alone, which takes no time; rows of the model
                                                                   stay where the steps are the same, the others are dropped

Run from the top of the tree, after `make`. A table follows the line that begins "Times, modelled"; for a named exercise without
one, it follows the table of counters. Without names, the command covers all ladders that have one.
"""

import concurrent.futures
import glob
import json
import os
import re
import subprocess
import sys

DEVICES = ["h200", "h100", "a100", "t4", "mx330"]
START = "Times, modelled for "


def run(exercise, path, device):
    command = ["build/grader", "run", exercise, "--file", path, "--device", f"sim:{device}", "--seed", "ladders"]
    out = subprocess.run(command + ["--threads", "1", "--format", "json"], capture_output=True, text=True).stdout
    speed = json.loads(out)["exercises"][0]["speed"]
    return speed["student_us"] if speed else 0


def size_of(exercise, path):
    command = ["build/grader", "run", exercise, "--file", path, "--seed", "ladders"]
    size = re.search(r"modelled for (.+?) on ", subprocess.run(command, capture_output=True, text=True).stdout)
    return size.group(1) if size else ""


def measured(exercise, steps):
    """{GPU: [µs]} as docs/results has them; a report that lacks a version has no row."""
    rows = {}
    for path in sorted(glob.glob("docs/results/*/report.json")):
        with open(path) as f:
            report = json.load(f)
        times = next((p["times"] for p in report["exercises"] if p["exercise"] == exercise), {})
        row = [times.get("" if s == "solution" else s, {}).get("measured_us") for s in steps]
        if all(row):
            rows[f"{os.path.basename(os.path.dirname(path)).upper()}, measured"] = row
    return rows


def digits(us):
    text = f"{float(f'{us:.3g}'):.10g}"
    return text if us < 10000 else f"{text[:-3]} {text[-3:]}"


def versions(ladder):
    """Returns the exercise's name, its files in the order of the steps, the model solution last, and their titles."""
    folder, name = os.path.dirname(ladder), os.path.basename(ladder)[: -len("-ladder.md")]
    files = sorted(glob.glob(f"{folder}/{name}-[0-9]-*.cu")) + [f"{folder}/{name}.cu"]
    return folder, name, files, [os.path.basename(f)[len(name) + 1 : -3] for f in files[:-1]] + ["solution"]


def timed_size(folder, name):
    """As `grader run` prints it: the numbers of .timed_case, of which some may be constants of the file."""
    with open(f"chapters/{os.path.basename(folder)}/{name}_test.c") as f:
        text = f.read()
    numbers = re.search(r"\.timed_case = \{\{([^}]*)\}", text).group(1).split(",")
    constants = dict(re.findall(r"(\w+) = (\d+(?: << \d+)?)\b", text))
    numbers = [constants.get(n.strip(), n) for n in numbers]
    factors = [[int(x) for x in n.split("<<")] for n in numbers]
    return " x ".join(str(f[0] << f[1] if len(f) > 1 else f[0]) for f in factors)


def renew_measured(ladder, old):
    """The table with new rows of GPUs; of the model, rows that have the same steps and size."""
    folder, name, _, steps = versions(ladder)
    size, head = timed_size(folder, name), f"| device | {' | '.join(steps)} |"
    new = table(name, folder, steps, measured(f"{os.path.basename(folder)}/{name}", steps), size)
    same = len(old) > 2 and old[0].startswith(f"{START}{size} ") and old[2] == head
    return new + [line for line in old[4:] if ", measured |" not in line] if same else new


def measure(ladder):
    """Returns the steps in order, the model solution last; {device: [µs]}; the size."""
    folder, name, files, steps = versions(ladder)
    exercise = f"{os.path.basename(folder)}/{name}"
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        rows = {d: [pool.submit(run, exercise, f, d) for f in files] for d in DEVICES}
        times = {d: [t.result() for t in row] for d, row in rows.items()}
    return name, folder, steps, {**measured(exercise, steps), **times}, size_of(exercise, files[-1])


def table(name, folder, steps, times, size):
    times = {d: row for d, row in times.items() if any(row)}
    gap = "" if all(map(all, times.values())) else " (-: it does not run there)"
    lines = [
        f"{START}{size} (`build/grader run {name} --file {folder}/{name}-….cu --device sim:NAME`), in µs{gap}:",
        "",
        f"| device | {' | '.join(steps)} |",
        "|---" * (len(steps) + 1) + "|",
    ]
    return lines + [f"| {d} | {' | '.join(digits(t) if t else '-' for t in row)} |" for d, row in times.items()]


def place(lines):
    """Where the table is, or would be."""
    for i, line in enumerate(lines):
        if line.startswith(START):
            end = next(k for k in range(i + 2, len(lines) + 1) if k == len(lines) or not lines[k].startswith("|"))
            return i, end
    rows = [i for i, line in enumerate(lines) if line.startswith("|")]
    end = next(k for k in range(rows[0], len(lines)) if not lines[k].startswith("|"))
    return end, end


def off(old, new):
    """True where a figure of the old table is not that of the new one, give or take 3 %."""
    figures = [[float(x.replace(" ", "")) for x in re.findall(r"\| (\d[\d .]*?)(?= \|)", "\n".join(t))] for t in (old, new)]
    return len(figures[0]) != len(figures[1]) or any(abs(a - b) > 0.03 * b for a, b in zip(*figures))


def main(arguments):
    if {a for a in arguments if a.startswith("-")} - {"--check", "--measured"}:
        sys.exit(__doc__)  # rather than a run of every ladder
    check, names = "--check" in arguments, [a for a in arguments if not a.startswith("--")]
    bad = 0
    for ladder in sorted(glob.glob("solutions/*/*-ladder.md")):
        text = open(ladder).read()
        name = os.path.basename(ladder)[: -len("-ladder.md")]
        if names and name not in names or not names and START not in text:
            continue
        lines = text.split("\n")
        first, end = place(lines)
        new = renew_measured(ladder, lines[first:end]) if "--measured" in arguments else table(*measure(ladder))
        if check and off(lines[first:end], new):
            bad += 1
            print(f"{ladder}: its table of times is not what the model says now; python3 {sys.argv[0]} {name}")
        if not check:
            lines[first:end] = ([] if lines[first:end] else [""]) + new
            open(ladder, "w").write("\n".join(lines))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
