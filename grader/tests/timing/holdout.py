#!/usr/bin/env python3
"""Compares the time model with versions that no fit has seen: the mutants that earn a part of the points.

    holdout.py --model            models every mutant of docs/results/h100/holdout.tsv anew, and keeps that in its last columns
    holdout.py                    writes docs/results/h100/holdout.md from holdout.tsv
    holdout.py --check            says whether holdout.md is up to date

holdout.tsv has a row for each mutant: exercise, mutant, measured us (an H100, caches cold), modelled us before anybody looked,
modelled us now, the interval's ends, and what limits it. A hash of the name puts each mutant into one of two halves. Causes of
errors may be looked for in the half `seen` only; the half `frozen` shows whether their cure holds elsewhere."""
import concurrent.futures, hashlib, json, math, os, pathlib, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
FOLDER = ROOT / "docs/results/h100"
TSV, PAGE = FOLDER / "holdout.tsv", FOLDER / "holdout.md"
COLUMNS = ["exercise", "mutant", "measured_us", "before_us", "modelled_us", "low_us", "high_us", "bound_by"]
REASONS = FOLDER / "holdout-reasons.tsv" # exercise, mutant, reason: of mutants of the seen half


# Mutants whose errors were looked at before they had a half.
LOOKED_AT = {
    "05-atomics-reduction/last_block packed-word", "06-occupancy/grid_stride a-thread-runs-it",
    "06-occupancy/index_math four-neighbours", "08-constant-memory/lookup_table exploit-lanes-in-turn",
    "08-constant-memory/lookup_table scattered-writes", "09-capstone/kmeans thirty-two-blocks", "09-capstone/kmeans words",
    "10-warps/divergence few-blocks", "10-warps/divergence one-ticket-for-all", "10-warps/divergence rounds",
    "10-warps/divergence vote-in-a-branch", "12-sparse-and-stencil/fast_math few-blocks",
    "12-sparse-and-stencil/time_tiles exploit-grid-barrier", "12-sparse-and-stencil/time_tiles few-blocks",
    "13-async/graph_launch waits-each-round", "14-tensor-cores/max_plus without-tiles"}


def half(row):
    name = f"{row['exercise']} {row['mutant']}"
    if name in LOOKED_AT: return "seen"
    return "frozen" if hashlib.sha256(name.encode()).digest()[0] & 1 else "seen"


def read():
    lines = TSV.read_text().splitlines()
    rows = [dict(zip(lines[0].split("\t"), line.split("\t"))) for line in lines[1:]]
    for row in rows:
        for key in COLUMNS[2:7]: row[key] = float(row[key])
    return rows


def write(rows):
    lines = ["\t".join(COLUMNS)]
    for r in rows:
        lines.append("\t".join(f"{r[k]:.4g}" if isinstance(r[k], float) else str(r[k]) for k in COLUMNS))
    TSV.write_text("\n".join(lines) + "\n")


def source(row):
    """The mutant's file; a mutant that earns full points by now lies with the other solutions. None: it is gone."""
    name = f"*/{row['exercise'].split('/')[-1]}/{row['mutant']}.cu"
    return next((f for folder in ("mutants", "others") for f in (ROOT / "grader/tests" / folder).glob(name)), None)


def model(row):
    if not source(row): return dict(row, modelled_us=0.0, low_us=0.0, high_us=0.0, bound_by="no file")
    run = subprocess.run([ROOT / "build/grader", "run", row["exercise"], "--file", source(row), "--device", "sim:h100", "--seed",
                          "holdout", "--threads", "1", "--format", "json"], capture_output=True, text=True)
    try:
        speed = json.loads(run.stdout)["exercises"][0]["speed"]
        low, high = speed["interval_us"]
        limit = f"{speed['limits'][0]['name']}, {speed['limits'][0]['percent']:.0f} %" if speed["limits"] else ""
        return dict(row, modelled_us=speed["student_us"], low_us=low, high_us=high, bound_by=limit)
    except (ValueError, KeyError, IndexError, TypeError):
        return dict(row, modelled_us=0.0, low_us=0.0, high_us=0.0, bound_by="no time")


def factor(a, b):
    return max(a, b) / min(a, b)


def ordered_pairs(rows, key):
    pairs = [(a, b) for i, a in enumerate(rows) for b in rows[i + 1:]
             if a["exercise"] == b["exercise"] and factor(a["measured_us"], b["measured_us"]) > 1.1]
    return sum((a["measured_us"] < b["measured_us"]) == (a[key] < b[key]) for a, b in pairs), len(pairs)


def summary(rows, name, key):
    rows = [r for r in rows if r[key] > 0]
    if not rows: return f"| {name} | 0 | | | | | |"
    errors = sorted(factor(r["measured_us"], r[key]) - 1 for r in rows)
    right, pairs = ordered_pairs(rows, key)
    n = len(rows)
    inside = sum(r["low_us"] <= r["measured_us"] <= r["high_us"] for r in rows)
    order = f"{right} of {pairs}" + (f" ({100 * right / pairs:.1f} %)" if pairs else "")
    return (f"| {name} | {n} | {100 * errors[n // 2]:.1f} % | {100 * errors[int(0.9 * n)]:.0f} % | "
            f"{sum(e > 1 for e in errors)} | {order} | {inside if key == 'modelled_us' else ''} |")


HEAD = ("| versions | n | median error | nine of ten within | beyond 2 × | pairs > 10 % apart in order | inside the interval |\n"
        "|---|---|---|---|---|---|---|")


def reasons():
    lines = REASONS.read_text().splitlines() if REASONS.exists() else []
    return {tuple(l.split("\t")[:2]): l.split("\t")[2] for l in lines if l.count("\t") == 2}


def worst(rows, known):
    rows = sorted((r for r in rows if r["modelled_us"] > 0), key=lambda r: -factor(r["measured_us"], r["modelled_us"]))[:20]
    out = ["| mutant | measured, µs | modelled, µs | error | bound by | reason |", "|---|---|---|---|---|---|"]
    for r in rows:
        error = 100 * (r["modelled_us"] / r["measured_us"] - 1)
        out.append(f"| {r['exercise'].split('/')[-1]} `{r['mutant']}` | {r['measured_us']:.4g} | {r['modelled_us']:.4g} | {error:+.0f} % | "
                   f"{r['bound_by']} | {known.get((r['exercise'], r['mutant']), '')} |")
    return out


def looked_at(rows):
    names = [f"`{r['mutant']}` ({r['exercise'].split('/')[-1]})" for r in rows if f"{r['exercise']} {r['mutant']}" in LOOKED_AT]
    return f"These count as seen, since their errors were looked at first: {', '.join(names)}."


def page(rows):
    halves = {name: [r for r in rows if half(r) == name] for name in ("seen", "frozen")}
    both = [r for r in rows if r["before_us"] > 0 and r["modelled_us"] > 0]
    lines = ["# The time model on versions that no fit has seen", "",
             "The mutants that earn a part of the points, timed on an H100. `python3 grader/tests/timing/holdout.py` writes this page;",
             "`--model` models all mutants anew first. A hash of the name puts each mutant into a half. Causes of errors were looked for",
             "in the half \"seen\" only. An error is a factor: 20 % means 1.2 times too long or 1.2 times too short. \"Before\" is the model",
             "of before the measurement, from the blocks that gpu-report samples; \"now\" is what a grading models from the full grid.",
             "The mutants of 13 exercises came later; for them \"before\" is the model of that time. " + looked_at(rows), "", HEAD]
    for name, part in halves.items():
        common = [r for r in part if r in both]
        lines += [summary(part, f"**{name}**, before", "before_us"), summary(common, f"**{name}**, before, those of the next row", "before_us"),
                  summary(common, f"**{name}**, now", "modelled_us")]
    for chapter in sorted({r["exercise"].split("/")[0] for r in rows}):
        for name, part in halves.items():
            lines.append(summary([r for r in part if r["exercise"].startswith(chapter)], f"{chapter}, {name}", "modelled_us"))
    missing = [r for r in rows if not r["modelled_us"] > 0]
    if missing: lines += ["", f"Without a modelled time, or not modelled anew: {', '.join(r['exercise'].split('/')[-1] + ' `' + r['mutant'] + '`' for r in missing)}."]
    for name, part in halves.items():
        lines += ["", f"## The worst twenty, {name}", ""] + worst(part, reasons() if name == "seen" else {})
    return "\n".join(lines) + "\n"


def main():
    if "--help" in sys.argv: return print(__doc__)
    rows = read()
    for argument in sys.argv[1:]:
        if argument not in ("--model", "--check"): sys.exit(f"holdout.py: unknown option {argument}")
    if "--model" in sys.argv:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool: rows = list(pool.map(model, rows))
        write(rows)
    if "--check" in sys.argv:
        if PAGE.read_text() == page(rows): return
        sys.exit("holdout.md is out of date; run: python3 grader/tests/timing/holdout.py")
    PAGE.write_text(page(rows))


if __name__ == "__main__":
    main()
