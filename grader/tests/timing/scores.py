#!/usr/bin/env python3
"""Writes docs/results/scores.md: every version of every exercise with its score, its modelled time, and its time on an H100 where
docs/results/h100/report.json has it. If one version has more points than another that is faster by the model, the row gives
the reason from the report.

    scores.py [EXERCISE...]     writes the table for all, or prints it for the named ones

Needs a built grader; each version is graded with one seed, two at a time."""
import concurrent.futures, json, pathlib, re, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
GRADER, SEED, CLEAR, FAR = ROOT / "build/grader", "scores", 1.03, 25
# CLEAR: times that differ by less are the same; FAR: points


def versions(exercise):
    chapter, name = exercise.split("/")
    yield "starter file", ROOT / "chapters" / chapter / f"{name}.cu"
    folder = ROOT / "solutions" / chapter
    for path in sorted(folder.glob(f"{name}-[0-9]*.cu")):
        yield path.stem[len(name) + 1:], path
    yield "model solution", folder / f"{name}.cu"


def grade(exercise, version, path):
    run = subprocess.run([GRADER, "run", exercise, "--file", path, "--seed", SEED, "--format", "json", "--jobs", "1"],
                         capture_output=True, text=True)
    if run.returncode > 1:
        sys.exit(f"scores: {path}: {run.stderr.strip()}")
    result = json.loads(run.stdout)["exercises"][0]
    print(f"{exercise} {version}", file=sys.stderr)
    return result


def measured():
    report = json.loads((ROOT / "docs/results/h100/report.json").read_text())
    times = {}
    for e in report["exercises"]:
        for step, t in e.get("times", {}).items():
            times[e["exercise"], step or "model solution"] = t["measured_us"]
    return times


def time(us):
    return "" if not us else f"{us / 1e3:.3g} ms" if us >= 1e4 else f"{us:.4g} µs"


def rows(exercise, results, h100):
    """Returns the rows. A version with fewer points than a slower one, or more than a faster one, has a reason."""
    points = {v: r["score"] or 0 for v, r in results.items()}
    us = {v: (r["speed"] or {}).get("student_us") or 0 for v, r in results.items()}
    clash = set()
    for a in results:
        for b in results:
            if "starter file" in (a, b) or not us[a] or not us[b]:
                continue
            faster, as_fast = us[a] * CLEAR < us[b], us[a] < us[b] * CLEAR
            if (faster and points[a] + 0.5 < points[b]) or (as_fast and points[a] + FAR < points[b]):
                clash.add((a, b))
    for v, r in results.items():
        partners = sorted({x for pair in clash if v in pair for x in pair if x != v})
        note = ""
        if v == "starter file":
            note = "not started"
        elif partners:
            why = (r.get("points_and_time") or "").strip() or "; ".join(p["reason"] for p in r["points_lost"]) or "reaches every goal"
            note = f"compared with {', '.join(partners)}: {why}"
        yield [exercise, v, r["verdict"], f"{points[v]:.1f}", time(us[v]), time(h100.get((exercise, v), 0)), note]


def main():
    listed = subprocess.run([GRADER, "list"], capture_output=True, text=True, check=True).stdout
    chapter, exercises = "", []
    for line in listed.splitlines():
        if re.match(r"\d\d-", line):
            chapter = line.strip()
        elif line.startswith("  ") and chapter:
            exercises.append(f"{chapter}/{line.split()[0]}")
    wanted = [e for e in exercises if not sys.argv[1:] or e.split("/")[1] in sys.argv[1:]]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = {(e, v): pool.submit(grade, e, v, p) for e in wanted for v, p in versions(e)}
        results = {key: job.result() for key, job in jobs.items()}
    h100, out = measured(), []
    for e in wanted:
        out += rows(e, {v: r for (x, v), r in results.items() if x == e}, h100)
    text = ["# Points and times of all versions", "",
            f"Written by `python3 grader/tests/timing/scores.py`: seed `{SEED}`, modelled on an H200; measured on the H100 of "
            "`h100/report.md`. If a version has more points than one that is faster by the model (by "
            f"{CLEAR - 1:.0%} or more), or {FAR} more than one that is as fast, both rows give the reason.", "",
            "| exercise | version | verdict | points | modelled | H100, measured | reason |", "|---|---|---|---|---|---|---|"]
    text += ["| " + " | ".join(r) + " |" for r in out]
    if sys.argv[1:]:
        print("\n".join(text))
    else:
        (ROOT / "docs/results/scores.md").write_text("\n".join(text) + "\n")


main()
