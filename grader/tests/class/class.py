#!/usr/bin/env python3
"""class.py BUILD [--students N] [--kills K] [--faults F]: a synthetic class, messy as classes are, graded in peace, then with the
grader killed K times at random moments and run again, then with every F-th write of the store failing: each time every mark is
the one of the run in peace, and no submission was graded twice after its result was committed. `make check-class` runs it.

Most submissions are a line that does not compile, each another one, so that nvcc takes a fraction of a second; answers and
skeletons of one exercise, which are in the build cache after the first, are among them."""
import argparse, csv, os, random, shutil, signal, sqlite3, subprocess, sys, time, zipfile, io, tarfile

EXERCISE = "02-coalescing/transpose"


def make(folder, n, root, quick=False, distinct=0):
    """Returns {student: what must come of it}: 'AC', 'PART' (the skeleton as it came: 0), 'CE', 'unclear', 'missing'."""
    answer = open(f"{root}/solutions/{EXERCISE}.cu").read()
    skeleton = subprocess.run(["git", "-C", root, "show", f"HEAD:chapters/{EXERCISE}.cu"], capture_output=True, text=True, check=True).stdout
    expected, rng = {}, random.Random(15)
    names = ["transpose.cu", "Transpose.cu", "transpose (1).cu", "src/transpose.cu", f"{EXERCISE}.cu", f"chapters/{EXERCISE}.cu"]
    for i in range(n):
        who = f"s{i:05d}" if i % 7 else f"Jörg {i}"
        kind = rng.choice(["CE"] * 6 + (["CE"] if quick else ["AC", "PART"]) + ["unclear", "missing"])
        expected[who] = kind
        if kind == "missing":
            continue
        source = {"AC": answer, "PART": skeleton}.get(kind, f"#error {i % distinct if distinct else i}\n")
        name, how = rng.choice(names), rng.randrange(4)
        if kind == "unclear":
            broken = rng.randrange(3)
            if broken == 0:
                open(f"{folder}/{who}.zip", "wb").write(b"PK\x03\x04 broken")
            elif broken == 1:
                os.makedirs(f"{folder}/{who}")
                for name in ("draft.cu", "final_version.cu"):  # one alone would be taken, whatever its name
                    open(f"{folder}/{who}/{name}", "w").write(source)
            else:
                os.makedirs(f"{folder}/{who}")
                os.symlink("/etc/hostname", f"{folder}/{who}/transpose.cu")
        elif how == 0:
            with zipfile.ZipFile(f"{folder}/{who}.ZIP", "w") as z:
                z.writestr(f"Jörg/{name}", source)
        elif how == 1:
            with tarfile.open(f"{folder}/{who}.tar.gz", "w:gz") as t:
                info = tarfile.TarInfo(name)
                info.size = len(source.encode())
                t.addfile(info, io.BytesIO(source.encode()))
        else:
            os.makedirs(os.path.dirname(f"{folder}/{who}/{name}"))
            open(f"{folder}/{who}/{name}", "w").write(source)
    return expected


def batch(o, store, output, env=None, wait=True):
    command = [f"{o.build}/grader", "batch", o.folder, "--roster", o.roster, "--exercise", "transpose", "--seed", "class", "--store", store,
               "--format", "csv", "--output", output]
    p = subprocess.Popen(command, stderr=subprocess.PIPE, env={**os.environ, **(env or {})})
    if not wait:
        return p
    said = p.communicate()[1].decode()
    return p.returncode, said


def marks(path):
    with open(path, newline="") as f:
        return {r["student"]: (r["verdict"] if r["verdict"] != "-" else r["state"], r["score"], r["reason"], r["source_sha256"])
                for r in csv.DictReader(f)}


def fail(text):
    sys.exit(f"class: {text}")


def same(a, b, what):
    if a != b:
        fail(f"{what}: marks differ: " + str([(k, a.get(k), b.get(k)) for k in sorted({*a, *b}) if a.get(k) != b.get(k)][:5]))


def results(store):
    """Committed results, by key: when each was graded."""
    try:
        db = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
        if db.execute("PRAGMA integrity_check").fetchone()[0] != "ok":
            fail(f"{store} is damaged")
        rows = dict(db.execute("SELECT key, graded_at || seconds FROM result WHERE verdict <> 'IE'"))
        db.close()
        return rows
    except sqlite3.OperationalError:
        return {}  # killed before there was a table


def keep(before, store, what):
    after = results(store)
    for key, when in before.items():
        if key not in after:
            fail(f"{what}: a committed result is lost")
        if after[key] != when:
            fail(f"{what}: a committed result was graded again")
    return after


def peace(o, expected):
    began = time.time()
    status, said = batch(o, f"{o.work}/peace.db", f"{o.work}/peace.csv")
    took = time.time() - began
    if status != 1:
        fail(f"in peace: status {status}: {said}")
    got = marks(f"{o.work}/peace.csv")
    for who, kind in expected.items():
        verdict, score = got.get(who, ("no row", ""))[:2]
        if verdict != kind or (score == "0.0") != (kind in ("missing", "CE", "PART")) or (score == "") != (kind == "unclear"):
            fail(f"{who}: {kind} expected, {verdict} with score '{score}' found")
    if set(got) != set(expected):
        fail(f"rows of nobody: {sorted(set(got) - set(expected))[:5]}")
    graded = len(results(f"{o.work}/peace.db"))
    print(f"in peace: {len(got)} students, {graded} gradings, {took:.1f} s, store {os.path.getsize(o.work + '/peace.db') >> 10} KiB")
    began = time.time()
    batch(o, f"{o.work}/peace.db", f"{o.work}/again.csv")
    same(got, marks(f"{o.work}/again.csv"), "a second run")
    print(f"again, nothing to do: {time.time() - began:.1f} s")
    return got, took, time.time() - began


def kills(o, want, took, again):
    hit, store, seen, rng = 0, f"{o.work}/killed.db", {}, random.Random(1)
    for i in range(o.kills):
        p = batch(o, store, f"{o.work}/killed.csv", wait=False)
        # Reading in comes first in each run: half of the kills come within it, half while something is graded.
        time.sleep(rng.uniform(0.01, again) if i % 2 else rng.uniform(again, again + 3 * (took - again) / max(1, o.kills) + 0.3))
        hit += p.poll() is None
        p.send_signal(signal.SIGKILL)
        p.communicate()
        seen = keep(seen, store, f"kill {i}")
    two = [batch(o, store, f"{o.work}/two{k}.csv", wait=False) for k in range(2)]  # and two at the same time
    for k, p in enumerate(two):
        p.communicate()
        same(want, marks(f"{o.work}/two{k}.csv"), f"after {o.kills} kills, grader {k} of two at the same time")
    keep(seen, store, "after the kills")
    print(f"{o.kills} kills, {hit} of them before the end: {len(seen)} results were committed before the last one; none lost, none graded twice, all marks equal")


def faults(o, want):
    tried, failed = 0, 0
    library = f"{o.build}/tests/libfaults.so"
    for kind in ({"FAULT_ERRNO": "28"}, {"FAULT_ERRNO": "28", "FAULT_STAYS": "1"}, {"FAULT_ERRNO": "5"}, {"FAULT_KILL": "1"}):
        at = 1
        while True:
            store = f"{o.work}/fault.db"
            for end in ("", "-wal", "-shm"):
                if os.path.exists(store + end):
                    os.unlink(store + end)
            shutil.copy(f"{o.work}/few.db", store)
            before = results(store)
            status, said = batch(o, store, f"{o.work}/fault.csv", {**kind, "FAULT_AT": str(at), "LD_PRELOAD": library})
            tried += 1
            keep(before, store, f"{kind} at {at}")
            if status not in (0, 1):
                failed += 1
                if "FAULT_KILL" not in kind and (status != 3 or not said):
                    fail(f"{kind} at {at}: status {status}, said: {said}")
            elif at >= o.last_write:
                break
            status, said = batch(o, store, f"{o.work}/fault.csv")
            if status != 1:
                fail(f"after {kind} at {at}: status {status}: {said}")
            same(want, marks(f"{o.work}/fault.csv"), f"after {kind} at {at}")
            at += o.faults
    print(f"{tried} faults in writes, syncs and cuts of the store, {failed} ended the run: nothing lost, all marks equal afterwards")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("--students", type=int, default=300)
    p.add_argument("--kills", type=int, default=50)
    p.add_argument("--faults", type=int, default=7, help="every how many-th write fails")
    p.add_argument("--few", type=int, default=12, help="students of the class whose writes fail")
    p.add_argument("--distinct", type=int, default=0, help="of the lines that do not compile, so many different ones; 0 = all")
    o = p.parse_args()
    o.build = os.path.abspath(o.build)
    o.work, root = f"{o.build}/tests/class-made", os.path.dirname(os.path.abspath(__file__)) + "/../../.."
    shutil.rmtree(o.work, ignore_errors=True)
    o.folder, o.roster = f"{o.work}/in", f"{o.work}/roster.csv"
    os.makedirs(o.folder)
    expected = make(o.folder, o.students, root, distinct=o.distinct)
    open(o.roster, "w").write("id\n" + "".join(f"{who}\n" for who in expected))
    want, took, again = peace(o, expected)
    kills(o, want, took, again)
    o.folder, o.roster = f"{o.work}/few", f"{o.work}/few.csv"
    os.makedirs(o.folder)
    expected = make(o.folder, o.few, root, quick=True)
    open(o.roster, "w").write("id\n" + "".join(f"{who}\n" for who in expected))
    # A store with two results already, which no fault may lose.
    status, said = batch(o, f"{o.work}/fewpeace.db", f"{o.work}/fewpeace.csv")
    want = marks(f"{o.work}/fewpeace.csv")
    shutil.copy(f"{o.work}/fewpeace.db", f"{o.work}/few.db")
    db = sqlite3.connect(f"{o.work}/few.db")
    db.execute("DELETE FROM result WHERE key NOT IN (SELECT key FROM result ORDER BY key LIMIT 2)")
    db.commit(), db.execute("PRAGMA wal_checkpoint(TRUNCATE)"), db.close()
    env = {"LD_PRELOAD": f"{o.build}/tests/libfaults.so", "FAULT_AT": "1000000000", "FAULT_COUNT": f"{o.work}/writes"}
    shutil.copy(f"{o.work}/few.db", f"{o.work}/count.db")
    batch(o, f"{o.work}/count.db", f"{o.work}/count.csv", env)
    o.last_write = int(open(f"{o.work}/writes").read())
    print(f"a run of {o.few} students writes the store {o.last_write} times")
    faults(o, want)


main()
