#!/usr/bin/env python3
"""similar.py BUILD: how far `grader similar` keeps versions of an exercise apart that are not copies of each other, and finds copies: the
table of docs/similarity.md. Versions: the mutants of each exercise, which share only what they share with the book. Copies:
each of them with new names, layout and comments; also with its functions in another order; with statements inserted; only half of it.
Mutants and copies of an exercise form one class, so that widespread passages are ignored, as in a real one."""
import argparse, csv, glob, os, random, shutil, subprocess, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from copies import half, padded, renamed, reordered

ROOT = os.path.abspath(os.path.dirname(os.path.abspath(__file__)) + "/../../..")
COPIES = {"renamed, laid out anew": renamed, "renamed, functions in another order": reordered, "renamed, statements put in": padded, "half of it": half}


def versions(exercise):
    found = glob.glob(f"{ROOT}/grader/tests/mutants/{exercise}/*.cu") + glob.glob(f"{ROOT}/grader/tests/class/independent/{exercise}/*.cu")
    return sorted(found)


def shares(build, work, exercise, files):
    """{(a, b): share} of the pairs that the grader lists; students are in the order of their names."""
    shutil.rmtree(work, ignore_errors=True)
    name = exercise.split("/")[1]
    for who, text in files.items():
        os.makedirs(f"{work}/in/{who}")
        open(f"{work}/in/{who}/{name}.cu", "w").write(text)
    out = subprocess.run([f"{build}/grader", "similar", f"{work}/in", "--exercise", exercise, "--output", f"{work}/out"],
                         capture_output=True, text=True)
    if out.returncode:
        sys.exit(f"similar: {exercise}: {out.stderr}")
    return {(r["first"], r["second"]): float(r["share"]) for r in csv.DictReader(open(f"{work}/out/pairs.csv"))}


def of_the_book(build, work, exercise, rng):
    """Returns for each kind of copy whether it is found to be the book's; None if the unchanged model solution has too little text of its own."""
    solution = open(f"{ROOT}/solutions/{exercise}.cu").read()
    kinds = {"c": lambda text, rng: text, **{f"c{i}": change for i, change in enumerate(COPIES.values())}}
    shares(build, work, exercise, {who: change(solution, rng) for who, change in kinds.items()})
    known = {r["student"] for r in csv.DictReader(open(f"{work}/out/book.csv"))}
    return [f"c{i}" in known for i in range(len(COPIES))] if "c" in known else None


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    o = p.parse_args()
    build, work = os.path.abspath(o.build), os.path.abspath(o.build) + "/tests/similar"
    exercises = sorted(f[len(f"{ROOT}/chapters/"):-3] for f in glob.glob(f"{ROOT}/chapters/*/*.cu"))
    rng = random.Random(3)
    apart, near, own = 0, [], 0
    copies = {k: 0 for k in COPIES}
    for exercise in exercises:
        files = versions(exercise)
        texts = {f"o{i}": open(f).read() for i, f in enumerate(files)}
        found = shares(build, work, exercise, texts)
        apart += len(texts) * (len(texts) - 1) // 2
        near += [(s, exercise, *(os.path.basename(files[int(w[1:])]) for w in pair)) for pair, s in found.items()]
        same = shares(build, work, exercise, {**texts, **{"c" + w[1:]: t for w, t in texts.items()}})
        enough = [w for w in texts if ("c" + w[1:], w) in same or (w, "c" + w[1:]) in same]
        own += len(enough)
        for kind, change in COPIES.items():
            found = shares(build, work, exercise, {**texts, **{"c" + w[1:]: change(texts[w], rng) for w in enough}})
            copies[kind] += sum(("c" + w[1:], w) in found for w in enough)
    book = [b for b in (of_the_book(build, work, e, rng) for e in exercises) if b]
    print(f"different versions: {apart} pairs of {len(exercises)} exercises, {len(near)} of them listed")
    for s in sorted(near, reverse=True):
        print(f"    {100 * s[0]:5.1f} %  {s[1]}: {s[2]}, {s[3]}")
    print(f"{own} versions have enough text of their own that an unchanged copy is listed; of their copies are listed:")
    for kind, n in copies.items():
        print(f"    {kind}: {n} ({100 * n / own:.0f} %)")
    print(f"{len(book)} model solutions have enough text of their own to be found as the book's; of their copies are found:")
    for i, kind in enumerate(COPIES):
        print(f"    {kind}: {sum(b[i] for b in book)}")


main()
