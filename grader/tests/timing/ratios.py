#!/usr/bin/env python3
"""Writes grader/grade/ratio_error.def: how far the model's ratio of two versions of one exercise is from the measured one.

    ratios.py            writes it, from docs/results/*/model.md
    ratios.py --check    says whether it is up to date
    ratios.py --table    prints the table of docs/time-model.md

Two versions share most of their code, and with it most of the model's error. So the error of a ratio is smaller than the
errors of both times together, and the smaller the closer the times are. Each row is for pairs whose modelled ratio lies in one
range: the factor within which nine of ten measured ratios are."""
import collections, itertools, math, pathlib, re, sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
OUT = ROOT / "grader/grade/ratio_error.def"
SHARE = 0.9
EDGES = [0, 0.1, 0.2, 0.4, 0.8, 1.6, math.inf] # of |log ratio|: pairs by 1.11, 1.22, 1.49, 2.23, 4.95
AT = [0.05, 0.15, 0.3, 0.6, 1.2, 2.0]          # where the row holds; between rows, the error is interpolated


def times(page):
    """{exercise: [(measured, modelled) µs of each version]} of a page model.md."""
    found = collections.defaultdict(list)
    for line in page.read_text().splitlines():
        row = re.match(r"\| (\d\d-[\w-]+/\w+) [^|]*\| ([\d.]+) \|[^|]*\| [+-]\d+ % \(([\d.]+)\)", line)
        if row: found[row[1]].append((float(row[2]), float(row[3])))
    return found


def pairs():
    """Yields (|log modelled ratio|, |log error of the ratio|) of each two versions of an exercise on one GPU."""
    for page in sorted((ROOT / "docs/results").glob("*/model.md")):
        for versions in times(page).values():
            for a, b in itertools.combinations(versions, 2):
                modelled, measured = math.log(a[1] / b[1]), math.log(a[0] / b[0])
                yield abs(modelled), abs(modelled - measured)


def rows(found):
    largest = 0
    for low, high, at in zip(EDGES, EDGES[1:], AT):
        errors = sorted(e for ratio, e in found if low <= ratio < high)
        largest = max(largest, errors[int(SHARE * len(errors))]) # a larger ratio is never known better
        yield at, largest, len(errors)


def text():
    found = list(pairs())
    lines = ["/* ratio_error.def — the model's error of the ratio of two versions' times, from "
             f"{len(found)} measured pairs.", " * Written by grader/tests/timing/ratios.py, which explains it.",
             " * X(|log| of the modelled ratio, |log| of the error that covers nine of ten pairs, pairs) */"]
    return "\n".join(lines + [f"X({at:.2f}, {error:.4f}, {n}) /* {math.exp(at):.2f}x: within {math.exp(error):.2f}x */"
                              for at, error, n in rows(found)]) + "\n"


def main():
    if "--check" in sys.argv:
        if OUT.read_text() == text(): return
        sys.exit("ratio_error.def is out of date; run: python3 grader/tests/timing/ratios.py")
    if "--table" in sys.argv:
        print("| modelled ratio | pairs | nine of ten measured ratios within |\n|---|---|---|")
        edges = zip(EDGES, EDGES[1:], rows(list(pairs())))
        for low, high, (_, error, n) in edges:
            ratio = f"over {math.exp(low):.2f}" if high == math.inf else f"{math.exp(low):.2f} to {math.exp(high):.2f}"
            print(f"| {ratio} | {n} | {math.exp(error):.2f} × |")
        return
    OUT.write_text(text())


if __name__ == "__main__":
    main()
