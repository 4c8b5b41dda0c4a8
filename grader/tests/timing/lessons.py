"""Writes the tables of times in the lessons: measured ones from docs/results, modelled ones from the ladders' tables.

    python3 grader/tests/timing/lessons.py            rewrites the rows of all tables
    python3 grader/tests/timing/lessons.py --check    says which cells are more than 3 % off; status 1

Run from the top of the tree, after ladders.py. It writes a table if the line before it is

    <!--times transpose: 1-coalesced-reads 3-tile solution-->

which no page shows: the columns' versions, in order, or a library's routine as docs/results names it; further columns stay as
they are. The table's head gives the timed size, as in the ladder. It writes the rows that are
headed "H100, measured" (any folder of docs/results), "T4, modelled" (any row of the ladder's table), or "H100, stalls: mio
throttle": per cent of the samples at which a warp of the version's longest kernel waited that ncu found it waiting for this, of ncu.tsv.
"""

import csv
import glob
import json
import re
import sys

from ladders import digits

MARK = re.compile(r"<!--times (\w+): ([\w -]+?)-->$")
ROUTINES = "CUB", "cublasSgeam", "cublasSgemm"  # a library's: measured only
ROW = re.compile(r"\| (\w+), (measured|modelled|stalls: [\w ]+) \|")
NO_STALLS = "stall_selected"  # the warp that issues


def reports():
    """{"H100": {(exercise, version or routine of a library): µs}}"""
    out = {}
    for path in glob.glob("docs/results/*/report.json"):
        with open(path) as f:
            exercises = json.load(f)["exercises"]
        out[path.split("/")[-2].upper()] = {
            (x["exercise"].split("/")[1], version or "solution"): t["measured_us"]
            for x in exercises
            for version, t in x["times"].items()
        } | {(x["exercise"].split("/")[1], routine): t["us"] for x in exercises for routine, t in x["libraries"].items()}
    return out


def modelled(exercise, device):
    """{version: cell} out of the ladder's table of times."""
    (ladder,) = glob.glob(f"solutions/*/{exercise}-ladder.md")
    head = []
    for line in open(ladder).read().split("\n"):
        cells = [c.strip() for c in line.strip("|").split("|")]
        if line.startswith("| device |"):
            head = cells
        elif head and cells[0] == device.lower():
            return dict(zip(head[1:], cells[1:]))
    return {}


def stalled(exercise, version, device, reason):
    """Per cent, as a cell."""
    label = "model" if version == "solution" else "s" + version.split("-")[0]
    with open(f"docs/results/{device.lower()}/ncu.tsv") as f:
        rows = [r for r in csv.DictReader(f, delimiter="\t") if (r["program"], r["version"]) == (exercise, label)]
    if not rows:
        return None
    longest = max(rows, key=lambda r: float(r["gpu__time_duration"]))
    samples = {k: float(v or 0) for k, v in longest.items() if k.startswith("stall_") and k != NO_STALLS}
    return f"{100 * samples['stall_' + reason.replace(' ', '_')] / sum(samples.values()):.0f}"


def row(exercise, versions, device, kind, measured):
    if kind.startswith("stalls: "):
        return [stalled(exercise, v, device, kind.split(": ")[1]) for v in versions]
    if kind == "modelled":
        cells = modelled(exercise, device)
        return [cells.get(v, "-" if v in ROUTINES else None) for v in versions]
    figures = [measured.get(device, {}).get((exercise, v)) for v in versions]
    return [f and digits(f) for f in figures]


def off(old, new):
    try:
        a, b = float(old.replace(" ", "")), float(new.replace(" ", ""))
    except ValueError:
        return old != new
    return abs(a - b) > 0.03 * b


def table(lines, at, measured):
    """Yields (line, cells as they are, cells as they should be) for the table behind the mark in line `at`."""
    exercise, versions = MARK.match(lines[at]).groups()
    versions = versions.split()
    for i in range(at + 1, len(lines)):
        if not lines[i].startswith("|"):
            return
        name = ROW.match(lines[i])
        if name:
            cells = [c.strip() for c in lines[i].strip("|").split("|")]
            right = row(exercise, versions, *name.groups(), measured)
            yield i, cells, cells[:1] + [r or "?" for r in right] + cells[1 + len(right) :]


def main(arguments):
    if set(arguments) - {"--check"}:
        sys.exit(__doc__)
    check, measured, bad, seen = "--check" in arguments, reports(), 0, 0
    for page in sorted(glob.glob("chapters/*/README.md")):
        lines = open(page).read().split("\n")
        marks = [i for i, line in enumerate(lines) if MARK.match(line)]
        for i, cells, right in (r for m in marks for r in table(lines, m, measured)):
            seen += 1
            if check and (len(cells) != len(right) or any(off(a, b) for a, b in zip(cells[1:], right[1:]))):
                bad += 1
                print(f"{page}:{i + 1}: says {cells}, and it is {right}; python3 {sys.argv[0]}")
            lines[i] = f"| {' | '.join(right)} |"
        if not check:
            open(page, "w").write("\n".join(lines))
    print(f"{seen} rows")
    return 1 if bad or not seen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
