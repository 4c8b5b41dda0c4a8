#!/usr/bin/env python3
"""mixed.py BUILD [--list]: a class of 301 students and two exercises in one folder: 241 hand in plain folders or archives, 30 files of
Canvas, 30 folders of Moodle. What each student hands in is drawn; the fate that each one must have is written down beside it. The
grader reads and grades the class in one run, and every student's state, verdict and score must be the expected one. Then one who was
unclear sends a readable archive, and only that student's fate changes. --list prints every student. `make check-mixed` runs it."""
import argparse, collections, io, os, random, shutil, sqlite3, subprocess, sys, zipfile

ROOT = os.path.abspath(os.path.dirname(os.path.abspath(__file__)) + "/../../..")
EXERCISES = {"transpose": "02-coalescing", "window_sum": "03-tiling"}
PLAIN, CANVAS, MOODLE = 241, 30, 30
# What a student hands in for one exercise, and the state, verdict and score that this earns; NULL = no score.
FATES = {"solution": ("graded", "AC", 100.0), "starter file": ("graded", "PART", 0.0), "does not compile": ("graded", "CE", 0.0),
         "nothing": ("missing", None, 0.0), "broken archive": ("unclear", None, None), "two files": ("unclear", None, None),
         "nothing beside two files": ("unclear", None, None)}
WEIGHTS = {"solution": 10, "starter file": 2, "does not compile": 3, "nothing": 2, "broken archive": 1, "two files": 1}


def texts(name, who):
    """The sources of one exercise by their names in a student's folder, for each fate."""
    path = f"{EXERCISES[name]}/{name}.cu"
    solution = open(f"{ROOT}/solutions/{path}").read()
    starter = subprocess.run(["git", "-C", ROOT, "show", f"HEAD:chapters/{path}"], capture_output=True, text=True, check=True).stdout
    return {"solution": {f"{name}.cu": solution}, "starter file": {f"{name}.cu": starter},
            "does not compile": {f"{name}.cu": f"#error {int(who[1:]) % 5}\n"},
            "two files": {f"a/{name}.cu": "#error a\n", f"b/{name}.cu": "#error b\n"}}


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path, "wb").write(text if isinstance(text, bytes) else text.encode())


def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for name, text in files.items():
            z.writestr(name, text)
    return out.getvalue()


def hand_in(folder, i, who, name, files, broken, rng):
    """Writes one student's work in the layout of the student's place in the class."""
    archive = zipped(files)
    archive = archive[:len(archive) // 2] if broken else archive
    number, given = 70000 + i, name.split()[0]
    if i < PLAIN:
        if broken or rng.random() < 0.2:
            write(f"{folder}/{who}.zip", archive)
        else:
            os.makedirs(f"{folder}/{who}", exist_ok=True)
            for path, text in files.items():
                write(f"{folder}/{who}/{path}", text)
    elif i < PLAIN + CANVAS:
        late = "LATE_" if rng.random() < 0.2 else ""
        write(f"{folder}/{name.lower().split()[1]}{given.lower()}_{late}{number}_{90000 + i}_homework.zip", archive)
    elif broken:
        write(f"{folder}/{name}_{number}_assignsubmission_file/work.zip", archive)
    else:
        os.makedirs(f"{folder}/{name}_{number}_assignsubmission_file", exist_ok=True)
        for path, text in files.items():
            write(f"{folder}/{name}_{number}_assignsubmission_file/{path}", text)


def make(folder, rng):
    """Returns the roster's lines and {(student, exercise): what was handed in}."""
    roster, expected = ["id,name,number"], {}
    for i in range(PLAIN + CANVAS + MOODLE):
        who, name = f"s{i:03}", f"Student{chr(65 + i % 26)} Number{i}"
        roster.append(f"{who},{name},{70000 + i}")
        drawn = {x: rng.choices(list(WEIGHTS), list(WEIGHTS.values()))[0] for x in EXERCISES}
        broken = "broken archive" in drawn.values()
        if broken:  # nothing in it can be read, so both exercises are unclear
            drawn = dict.fromkeys(drawn, "broken archive")
        if "two files" in drawn.values():  # somebody has to look at this student anyway, so nothing is a zero yet
            drawn = {x: "nothing beside two files" if kind == "nothing" else kind for x, kind in drawn.items()}
        files = {p: t for x, kind in drawn.items() if not broken for p, t in texts(x, who).get(kind, {}).items()}
        files = files or ({"notes.txt": "nothing yet\n"} if not broken else {"x.cu": os.urandom(999).hex()})
        hand_in(folder, i, who, name, files, broken, rng)
        expected.update({(who, x): kind for x, kind in drawn.items()})
    return roster, expected


def batch(build, work):
    argv = [f"{build}/grader", "batch", f"{work}/in", "--assignment", f"{work}/hw.toml", "--store", f"{work}/c.db", "--accept-unclear", "--output",
            f"{work}/grades.txt"]
    return subprocess.run(argv, capture_output=True, text=True)


def fates(work):
    rows = sqlite3.connect(f"{work}/c.db").execute("SELECT student, exercise, state, verdict, score FROM gradebook ORDER BY 1, 2")
    return {(s, x.split("/")[1]): (state, verdict, score) for s, x, state, verdict, score in rows}


def compare(found, expected, shown):
    wrong = [(key, kind, found.get(key)) for key, kind in expected.items() if found.get(key) != FATES[kind]]
    for key, kind in sorted(expected.items()) if shown else ():
        print(f"{key[0]}  {key[1]:12} handed in: {kind:17} {found[key]}")
    for key, kind, got in wrong:
        print(f"mixed: {key[0]} {key[1]}: handed in: {kind}; expected {FATES[kind]}, not {got}", file=sys.stderr)
    if wrong or len(found) != len(expected):
        sys.exit(f"mixed: {len(wrong)} wrong fates, {len(found)} rows for {len(expected)} expected")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build"), p.add_argument("--list", action="store_true"), p.add_argument("--random", type=int, default=39)
    o = p.parse_args()
    build, rng = os.path.abspath(o.build), random.Random(o.random)
    work = f"{build}/tests/mixed"
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(f"{work}/in")
    roster, expected = make(f"{work}/in", rng)
    write(f"{work}/roster.csv", "\n".join(roster) + "\n")
    write(f"{work}/hw.toml", 'seed = "1"\nroster = "roster.csv"\n' + "".join(f'[[exercise]]\nname = "{x}"\n' for x in EXERCISES))
    out = batch(build, work)
    if out.returncode not in (1, 3):
        sys.exit(f"mixed: batch ended with {out.returncode}: {out.stderr}")
    compare(fates(work), expected, o.list)
    counts = collections.Counter(expected.values())
    print(f"{len(roster) - 1} students, {len(expected)} rows: " + ", ".join(f"{n} {kind}" for kind, n in counts.most_common()))
    who = next(s for (s, _), kind in expected.items() if kind == "broken archive" and int(s[1:]) < PLAIN)
    write(f"{work}/in/{who}.zip", zipped({p: t for x in EXERCISES for p, t in texts(x, who)["solution"].items()}))
    batch(build, work)
    compare(fates(work), {**expected, **{(who, x): "solution" for x in EXERCISES}}, False)
    print(f"{who} sent a readable archive: both exercises AC, and nobody else's fate changed")


if __name__ == "__main__":
    main()
