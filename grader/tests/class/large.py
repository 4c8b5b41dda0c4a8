#!/usr/bin/env python3
"""large.py BUILD [--students N] [--layout folders|canvas|archives]... [--kills K] [--full-disk]: the cost of a large class, without that of nvcc.

Each student hands in five exercises: the model solution, the starter file or one of the mutants, each with a comment of its own, so
that no two files are equal. Measures the intake into a new store, a second intake of the same folder, and `batch` on a class in which
everything has a result: wall time, processor time and the largest memory of the grader's own process. The results come from grading
one file of each exercise; the script copies them to the other submissions' keys, which a killed `batch` has computed. With --kills,
it kills the intake that often at random times and resumes it. Fails if an intake or an unchanged run takes more than --limit seconds
of processor time (a new archive costs a sandbox: --archive-limit)."""
import argparse, glob, os, random, shutil, signal, sqlite3, subprocess, sys, tarfile, io, time, zipfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from watched import watched

ROOT = os.path.abspath(os.path.dirname(os.path.abspath(__file__)) + "/../../..")


def exercises():
    """Returns the five exercises with the most mutants, in the order of their names."""
    count = lambda e: -len(glob.glob(f"{ROOT}/grader/tests/mutants/{e}/*.cu"))
    names = (f[len(f"{ROOT}/chapters/"):-3] for f in glob.glob(f"{ROOT}/chapters/*/*.cu"))
    return sorted(sorted(sorted(names), key=count)[:5])


def versions(exercise):
    files = [f"{ROOT}/solutions/{exercise}.cu", f"{ROOT}/chapters/{exercise}.cu", *sorted(glob.glob(f"{ROOT}/grader/tests/mutants/{exercise}/*.cu"))]
    return [open(f).read() for f in files]


def archive(path, texts):
    """Writes a zip file, or a tar file for every other student."""
    if path.endswith(".zip"):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
            for name, text in texts.items():
                z.writestr(name, text)
        return
    with tarfile.open(path, "w:gz") as t:
        for name, text in texts.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            t.addfile(info, io.BytesIO(text.encode()))


def hand_in(folder, layout, i, texts):
    who = f"s{i:05d}"
    if layout == "archives":
        archive(f"{folder}/{who}" + (".zip" if i % 2 else ".tar.gz"), texts)
        return
    for k, (name, text) in enumerate(texts.items()):
        path = f"{folder}/{who}/{name}" if layout == "folders" else f"{folder}/{who}_{i}_{i * 10 + k}_{os.path.basename(name)}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        open(path, "w").write(text)


def make(folder, layout, students):
    """Writes the class, and beside it the roster and the assignment."""
    os.makedirs(folder)
    texts, rng = {e: versions(e) for e in exercises()}, random.Random(6)
    for i in range(students):
        hand_in(folder, layout, i, {f"{e}.cu": f"// {layout} {i}\n" + rng.choice(t) for e, t in texts.items()})
    suffix = (lambda i: f"_{i}") if layout == "canvas" else (lambda i: "")
    open(f"{folder}.csv", "w").write("id,name\n" + "".join(f"s{i:05d}{suffix(i)},Name {i}\n" for i in range(students)))
    open(f"{folder}.toml", "w").write(f'name = "large"\nseed = "large"\nroster = "{folder}.csv"\n' +
                                      "".join(f'[[exercise]]\nname = "{e}"\n' for e in texts))


def fail(text):
    sys.exit(f"large: {text}")


def check(store, students):
    """Fails unless each student has all five submissions and the database is intact."""
    db = sqlite3.connect(store)
    if db.execute("PRAGMA integrity_check").fetchone()[0] != "ok":
        fail(f"{store} is damaged")
    states = dict(db.execute("SELECT state, count(*) FROM submission GROUP BY 1"))
    db.close()
    if states != {"taken": 5 * students}:
        fail(f"{store}: 5 x {students} submissions expected, found {states}")


def intake(o, folder, store):
    return [f"{o.build}/grader", "intake", folder, "--assignment", f"{folder}.toml", "--store", store, "--output", f"{store}.txt"]


def batch(o, folder, store):
    return [f"{o.build}/grader", "batch", folder, "--assignment", f"{folder}.toml", "--store", store, "--format", "csv", "--output", f"{store}.csv"]


def measure(what, command, limit, status=0):
    began = time.time()
    got, said, cpu, mib, _ = watched(command)
    wall = time.time() - began
    print(f"  {what}: {wall:.1f} s, {cpu:.1f} s of processors, {mib} MiB", flush=True)
    if got not in (status, 0):
        fail(f"{what}: status {got}: {said[-400:]}")
    if cpu > limit:
        fail(f"{what} took {cpu:.1f} s of processors, more than {limit} s")


def templates(o):
    """Grades one file of each exercise; returns the path of the store."""
    folder, store = f"{o.work}/few", f"{o.work}/few.db"
    make(folder, "folders", 1)
    got, said, *_ = watched(batch(o, folder, store))
    if got not in (0, 1):
        fail(f"grading one student: {said}")
    return store


def fill(o, folder, store, few):
    """Gives each submission a copy of the result of its exercise, under the key that a batch has computed before it was killed."""
    p = subprocess.Popen(batch(o, folder, store), stderr=subprocess.DEVNULL)
    db = sqlite3.connect(store, timeout=60)
    while db.execute("SELECT count(*) FROM submission WHERE key IS NULL").fetchone()[0]:
        time.sleep(0.2)
        if p.poll() is not None:
            fail("batch ended before it had computed the keys")
    p.send_signal(signal.SIGKILL), p.wait()
    db.execute("ATTACH ? AS few", (few,))
    columns = [r[1] for r in db.execute("PRAGMA table_info(result)") if r[1] not in ("key", "digest")]
    listed = ", ".join(columns)
    db.execute(f"INSERT OR IGNORE INTO result (key, digest, {listed}) SELECT s.key, s.digest, {', '.join('r.' + c for c in columns)}"
               " FROM submission s JOIN few.result r ON r.exercise = s.exercise")
    db.commit()
    db.close()


def killed(o, folder, students):
    """Kills the intake at random times; each run resumes what the last one left."""
    store, rng, hit = f"{folder}-killed.db", random.Random(2), 0
    for _ in range(o.kills):
        p = subprocess.Popen(intake(o, folder, store), stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.05, 2))
        hit += p.poll() is None
        p.send_signal(signal.SIGKILL), p.wait()
    if subprocess.run(intake(o, folder, store), stderr=subprocess.DEVNULL).returncode:
        fail("the intake after the kills failed")
    check(store, students)
    print(f"  {hit} intakes killed, then one to the end: all submissions there", flush=True)


def full_disk(o, folder):
    """An intake into a file system of 12 MiB stops with status 3 and keeps what it committed; after the file system grew, it ends."""
    small = f"{o.work}/small"
    os.makedirs(small)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "none", small], check=True)
    try:
        command = intake(o, folder, f"{small}/class.db")
        first = subprocess.run(command, capture_output=True, text=True)
        if first.returncode != 3 or "disk is full" not in first.stderr:
            fail(f"a full disk: status {first.returncode}: {first.stderr[-300:]}")
        db = sqlite3.connect(f"{small}/class.db")
        state, students = db.execute("PRAGMA integrity_check").fetchone()[0], db.execute("SELECT count(*) FROM student").fetchone()[0]
        db.close()
        subprocess.run(["mount", "-o", "remount,size=1g", small], check=True)
        if state != "ok" or subprocess.run(command, stderr=subprocess.DEVNULL).returncode:
            fail(f"the store on a full disk: {state}; or the intake after it grew failed")
        check(f"{small}/class.db", o.students)
        print(f"  a disk of 12 MiB: stopped with {students} students, store {state}; after it grew: all submissions there", flush=True)
    finally:
        subprocess.run(["umount", small])


def run_layout(o, layout, few):
    folder, store = f"{o.work}/{layout}", f"{o.work}/{layout}.db"
    make(folder, layout, o.students)
    subprocess.run([f"{o.build}/grader", "cache", "clear"], check=True, stdout=subprocess.DEVNULL) if layout == "archives" else None
    print(f"{layout}, {o.students} students:", flush=True)
    measure("intake", intake(o, folder, store), o.archive_limit if layout == "archives" else o.limit)
    check(store, o.students)
    measure("intake again, unchanged", intake(o, folder, store), o.limit)
    check(store, o.students)
    fill(o, folder, store, few)
    measure("batch, unchanged", batch(o, folder, store), o.limit, 1)
    measure("batch --store alone", [f"{o.build}/grader", "batch", "--store", store, "--format", "csv", "--output", f"{store}.csv"], o.limit, 1)
    check(store, o.students)
    print(f"  store: {os.path.getsize(store) >> 20} MiB")
    if o.kills:
        killed(o, folder, o.students)
    if o.full_disk and layout == "folders":
        full_disk(o, folder)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("--students", type=int, default=2000)
    p.add_argument("--layout", action="append", choices=["folders", "canvas", "archives"])
    p.add_argument("--kills", type=int, default=0)
    p.add_argument("--full-disk", action="store_true", help="as root: an intake of the folders onto a disk that is too small")
    p.add_argument("--limit", type=float, default=5.0)
    p.add_argument("--archive-limit", type=float, default=40.0)
    o = p.parse_args()
    o.build = os.path.abspath(o.build)
    o.work = f"{o.build}/tests/large"
    shutil.rmtree(o.work, ignore_errors=True)
    os.makedirs(o.work)
    few = templates(o)
    for layout in o.layout or ["folders", "canvas", "archives"]:
        run_layout(o, layout, few)


main()
