#!/usr/bin/env python3
"""Compares what two versions of the grader said of the same files, apart from words.

usage: compare.py BEFORE AFTER      two folders of outputs: NAME.json, NAME.text, NAME.profile, as record.sh writes them

Run it after a change that renames things and must leave every result as it was. BEFORE has the JSON of schema 1, AFTER that
of schema 2. JSON must agree in every key (through the tables *_v1.def and KEYS), number, verdict and list; a text that
people read, and the text of reports, must agree in its numbers. Exits with 1 where something differs."""
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
KEYS = {"missing": "points_lost", "why": "reason", "naive": "baseline", "way": "progress"}
METRICS = {}
for table in ("grader/sim/count/counters_v1.def", "grader/grade/metrics_v1.def"):
    with open(f"{ROOT}/{table}") as f:
        METRICS.update(re.findall(r"^\w+_V1\((\w+), (\w+)\)", f.read(), re.M))
NUMBER = re.compile(r"(?<![A-Za-z_0-9.])\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def numbers(text):
    """The numbers in a text, in their order of size: words may move, figures may not change."""
    return sorted(NUMBER.findall(text))


def plain(value, old):
    """The value with present keys alone and texts reduced to their numbers."""
    if isinstance(value, dict):
        if old:
            value = {KEYS.get(k, METRICS.get(k, k)): v for k, v in value.items()}
        else:
            value = {k: v for k, v in value.items() if k not in KEYS and k not in METRICS}
        return {k: METRICS.get(v, v) if k == "metric" else 2 if k == "schema" else
                v if k in ("id", "verdict", "group", "kind", "name", "file", "metric") else plain(v, old)
                for k, v in value.items()}
    if isinstance(value, list):
        return [plain(v, old) for v in value]
    return numbers(value) if isinstance(value, str) else value


def read(path, old):
    with open(path, encoding="utf-8", errors="replace") as f:
        text = f.read()
    if not path.endswith(".json"):
        return numbers(text)
    body, status = text.rsplit("exit ", 1)
    return [plain(json.loads(body), old), status]


def first_difference(a, b, at=""):
    if type(a) is not type(b):
        return f"{at}: {a!r} / {b!r}"
    if isinstance(a, dict):
        for k in sorted(set(a) | set(b)):
            if k not in a or k not in b:
                return f"{at}.{k} is on one side only"
            d = first_difference(a[k], b[k], f"{at}.{k}")
            if d:
                return d
    elif isinstance(a, list):
        if len(a) != len(b):
            return f"{at}: {len(a)} / {len(b)} items: {[x for x in a if x not in b][:4]} / {[x for x in b if x not in a][:4]}"
        for i, (x, y) in enumerate(zip(a, b)):
            d = first_difference(x, y, f"{at}[{i}]")
            if d:
                return d
    elif a != b:
        return f"{at}: {a!r} / {b!r}"
    return None


def main(before, after):
    counts, differ = {}, []
    for name in sorted(os.listdir(after)):
        if not os.path.exists(f"{before}/{name}") or name.endswith(".tmp"):
            continue
        d = first_difference(read(f"{before}/{name}", True), read(f"{after}/{name}", False))
        kind = name.rsplit(".", 1)[1]
        counts[kind] = counts.get(kind, 0) + 1
        if d:
            differ.append(f"{name}: {d}")
    print(", ".join(f"{n} {kind}" for kind, n in sorted(counts.items())), "compared;", len(differ), "differ")
    print("\n".join(differ))
    return bool(differ) or not counts


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
