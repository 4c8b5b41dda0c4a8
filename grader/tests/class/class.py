#!/usr/bin/env python3
"""class.py BUILD [--students N] [--kills K] [--faults F] [--allocations A] [--compiled C]: a synthetic class with messy hand-ins,
graded undisturbed, then with the grader killed K times at random moments and run again, then with every F-th system call on the store and
every A-th allocation of SQLite failing: every mark must equal that of the undisturbed run, and no submission may be graded again
after its result was committed. `make check-class` runs it. With --compiled, it compares the time to grade C different solutions with
the time of nvcc and ptxas alone; --only-compiled does nothing else, and --compare names the exercises.

Most submissions are one line that does not compile, each a different one, so that nvcc takes a fraction of a second. Some are model
solutions and starter files of one exercise, which are in the build cache after the first."""
import argparse, csv, os, random, re, shutil, signal, sqlite3, subprocess, sys, tempfile, threading, time, zipfile, io, tarfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/../bench")
from alone import flags_of, nvcc_alone, timed
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from watched import watched

EXERCISE = "02-coalescing/transpose"


def make(folder, n, root, quick=False, distinct=0):
    """Returns {student: expected outcome}: 'AC', 'PART' (the unedited starter file: 0 points), 'CE', 'unclear', 'missing'."""
    solution = open(f"{root}/solutions/{EXERCISE}.cu").read()
    skeleton = subprocess.run(["git", "-C", root, "show", f"HEAD:chapters/{EXERCISE}.cu"], capture_output=True, text=True, check=True).stdout
    expected, rng = {}, random.Random(15)
    names = ["transpose.cu", "Transpose.cu", "transpose (1).cu", "src/transpose.cu", f"{EXERCISE}.cu", f"chapters/{EXERCISE}.cu"]
    for i in range(n):
        who = f"s{i:05d}" if i % 7 else f"Jörg {i}"
        kind = rng.choice(["CE"] * 6 + (["CE"] if quick else ["AC", "PART"]) + ["unclear", "missing"])
        expected[who] = kind
        if kind == "missing":
            continue
        source = {"AC": solution, "PART": skeleton}.get(kind, f"#error {i % distinct if distinct else i}\n")
        name, how = rng.choice(names), rng.randrange(4)
        if kind == "unclear":
            broken = rng.randrange(5)
            if broken == 0:
                open(f"{folder}/{who}.zip", "wb").write(b"PK\x03\x04 broken")
            elif broken == 1:
                os.makedirs(f"{folder}/{who}")
                for name in ("draft.cu", "final_version.cu"):  # one alone would be taken, whatever its name
                    open(f"{folder}/{who}/{name}", "w").write(source)
            elif broken == 2:
                os.makedirs(f"{folder}/{who}")
                os.symlink("/etc/hostname", f"{folder}/{who}/transpose.cu")
            elif broken == 3:
                os.makedirs(f"{folder}/{who}")
                open(f"{folder}/{who}/transpose.cu", "w").write("// " + "x" * (1 << 20))
            else:
                os.symlink("/etc", f"{folder}/{who}")
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


def command_of(o, store, output):
    return [f"{o.build}/grader", "batch", o.folder, "--accept-unclear", "--roster", o.roster, "--exercise", o.exercise, "--seed", "class", "--store", store,
            "--format", "csv", "--output", output]


def batch(o, store, output, env=None, wait=True):
    command = command_of(o, store, output)
    if not wait:
        return subprocess.Popen(command, stderr=subprocess.PIPE, env={**os.environ, **(env or {})})
    return watched(command, env)[:2]


def marks(path):
    with open(path, newline="") as f:
        return {r["student"]: (r["verdict"] if r["verdict"] != "-" else r["state"], r["score"], r["reason"], r["source_sha256"])
                for r in csv.DictReader(f)}


def say(text):
    print(text, flush=True)


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
    status, said, cpu, mib, fds = watched(command_of(o, f"{o.work}/peace.db", f"{o.work}/peace.csv"))
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
    say(f"in peace: {len(got)} students, {graded} gradings, {took:.1f} s, {cpu:.1f} s of processors, "
          f"store {os.path.getsize(o.work + '/peace.db') >> 10} KiB, the grader's own process {mib} MiB and {fds} descriptors at most")
    began = time.time()
    batch(o, f"{o.work}/peace.db", f"{o.work}/again.csv")
    same(got, marks(f"{o.work}/again.csv"), "a second run")
    say(f"again, nothing to do: {time.time() - began:.1f} s")
    return got, took, time.time() - began


def kills(o, want, took, again):
    """A third while the class is read in, the others while it is graded, some of these by runs that only go on with what was read."""
    hit, sent, store, seen, rng, reading = 0, 0, f"{o.work}/killed.db", {}, random.Random(1), max(1, o.kills // 3)
    for i in range(o.kills):
        alone = i > reading and i % 4
        start = lambda k: subprocess.Popen([f"{o.build}/grader", "batch", "--store", store, "--format", "csv", "--output", f"{o.work}/killed{k}.csv"],
                                           stderr=subprocess.DEVNULL) if alone else batch(o, store, f"{o.work}/killed{k}.csv", wait=False)
        workers = [start(k) for k in range(1 + (i % 3 == 0))]  # every third time two, which are killed at different moments
        while_grading = rng.uniform(0.05, 3 * (took - again) / max(1, o.kills - reading) + 0.3)
        time.sleep(rng.uniform(0.01, again) if i < reading else while_grading + (0 if alone else again))
        for p in workers:
            hit, sent = hit + (p.poll() is None), sent + 1
            p.send_signal(signal.SIGKILL)
            p.communicate()
            seen = keep(seen, store, f"kill {i}")
            time.sleep(rng.uniform(0, 0.5) if p is not workers[-1] else 0)
    two = [batch(o, store, f"{o.work}/two{k}.csv", wait=False) for k in range(2)]  # and two at the same time
    for k, p in enumerate(two):
        p.communicate()
        if p.returncode != 1:
            fail(f"after {o.kills} kills, grader {k} of two at the same time: status {p.returncode}")
        same(want, marks(f"{o.work}/two{k}.csv"), f"after {o.kills} kills, grader {k} of two at the same time")
    keep(seen, store, "after the kills")
    say(f"{sent} kills, {hit} of them before the end: {len(seen)} results were committed before the last one; none lost, none graded twice, all marks equal")


def twice(o, want):
    """A second entry of a student who is there makes that student unclear, and nobody else."""
    who = next(n for n in sorted(os.listdir(o.folder)) if not n.lower().endswith((".zip", ".gz")))
    with zipfile.ZipFile(f"{o.folder}/{who}.tar", "w") as z:
        z.writestr("transpose.cu", "#error twice\n")
    status, said = batch(o, f"{o.work}/twice.db", f"{o.work}/twice.csv")
    os.unlink(f"{o.folder}/{who}.tar")
    got = marks(f"{o.work}/twice.csv")
    verdict, score, reason = got.pop(who)[:3]
    if status != 1 or verdict != "unclear" or score or "two entries are the same student" not in reason:
        fail(f"two entries of {who}: status {status}, {verdict} '{score}', {reason}; said: {said}")
    same({k: v for k, v in want.items() if k != who}, got, f"two entries of {who}")


# ---- against nvcc alone ----

def check_solutions(o):
    status, said = watched(command_of(o, f"{o.folder}.db", f"{o.folder}.out"))[:2]
    if status != 0:
        fail(f"solutions: status {status}: {said}")


def compiled(o, root):
    """Answers that differ in a comment; the two take turns, so that what else the machine does falls on both."""
    solution, flags, sums = open(f"{root}/solutions/{o.exercise}.cu").read(), flags_of(root, o.exercise), [0, 0, 0, 0]
    rounds, name = min(4, o.compiled), os.path.basename(o.exercise)
    for r in range(rounds):
        o.folder, o.roster = f"{o.work}/{name}{r}", f"{o.work}/{name}{r}.csv"
        files = []
        for i in range(o.compiled // rounds):
            os.makedirs(f"{o.folder}/c{i:03d}")
            files.append(f"{o.folder}/c{i:03d}/{name}.cu")
            open(files[-1], "w").write(f"// {r} {i} {time.time()}\n" + solution)
        open(o.roster, "w").write("id\n" + "".join(f"c{i:03d}\n" for i in range(len(files))))
        wall, cpu = nvcc_alone(o.build, files, flags)
        graded = timed(lambda: check_solutions(o))
        for k, x in enumerate((wall, cpu, *graded)):
            sums[k] += x
    n = o.compiled // rounds * rounds
    say(f"{n} different solutions of {name}: nvcc and ptxas alone {sums[0] / n:.2f} s each, {sums[1] / n:.2f} s of processors; the grader {sums[2] / n:.2f} s, "
          f"{sums[3] / n:.2f} s: {sums[2] / sums[0]:.2f} times the time, {sums[3] / sums[1]:.2f} times the processors'")


def fault(o, want, kind):
    """One run with a fault, on a store that has two results already, and one without on what it left. True if it ended the first."""
    store = f"{o.work}/fault.db"
    for end in ("", "-wal", "-shm"):
        if os.path.exists(store + end):
            os.unlink(store + end)
    shutil.copy(f"{o.work}/few.db", store)
    before = results(store)
    status, said = batch(o, store, f"{o.work}/fault.csv", {**kind, "LD_PRELOAD": f"{o.build}/tests/libfaults.so"})
    keep(before, store, f"{kind}")
    ended = status not in (0, 1)
    if not ended:
        same(want, marks(f"{o.work}/fault.csv"), f"{kind}, which did not end the run")
    elif "FAULT_KILL" not in kind and (status != 3 or not said):
        fail(f"{kind}: status {status}, said: {said}")
    status, said = batch(o, store, f"{o.work}/fault.csv")
    if status != 1:
        fail(f"after {kind}: status {status}: {said}")
    same(want, marks(f"{o.work}/fault.csv"), f"after {kind}")
    return ended


def faults(o, want):
    for what, count, step, ways in (
            ("system calls on the store", o.last_write, o.faults,
             [("FAULT_AT", w) for w in ({"FAULT_ERRNO": "28"}, {"FAULT_ERRNO": "28", "FAULT_STAYS": "1"}, {"FAULT_ERRNO": "5"}, {"FAULT_KILL": "1"})]),
            ("allocations of SQLite", o.last_allocation, o.allocations, [("FAULT_MALLOC", w) for w in ({}, {"FAULT_STAYS": "1"})])):
        for name, way in ways:
            tried = [fault(o, want, {**way, name: str(at)}) for at in range(1, count + 1, step)]
            say(f"{len(tried)} faults in {what} ({describe(way)}), {sum(tried)} ended the run: nothing lost, all marks equal afterwards")


def describe(way):
    error = {"28": "no space", "5": "I/O error"}.get(way.get("FAULT_ERRNO"), "no memory")
    return "killed" if "FAULT_KILL" in way else error + (", and so at every later call" if "FAULT_STAYS" in way else ", once")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("--students", type=int, default=300)
    p.add_argument("--kills", type=int, default=50)
    p.add_argument("--faults", type=int, default=7, help="every how many-th system call on the store fails")
    p.add_argument("--allocations", type=int, default=97, help="every how many-th allocation of SQLite fails")
    p.add_argument("--compiled", type=int, default=0, help="how many solutions to measure beside nvcc alone")
    p.add_argument("--only-compiled", action="store_true", help="leave out all but --compiled")
    p.add_argument("--compare", nargs="*", default=[EXERCISE], metavar="CHAPTER/EXERCISE", help="exercises of --compiled")
    p.add_argument("--few", type=int, default=20, help="students of the class whose writes fail")
    p.add_argument("--only-faults", action="store_true", help="leave out the large class and the kills")
    p.add_argument("--distinct", type=int, default=0, help="of the lines that do not compile, so many different ones; 0 = all")
    o = p.parse_args()
    o.build = os.path.abspath(o.build)
    o.work, root = f"{o.build}/tests/class-made", os.path.dirname(os.path.abspath(__file__)) + "/../../.."
    shutil.rmtree(o.work, ignore_errors=True)
    o.folder, o.roster = f"{o.work}/in", f"{o.work}/roster.csv"
    os.makedirs(o.folder)
    o.exercise = EXERCISE
    if not o.only_faults and not o.only_compiled:
        expected = make(o.folder, o.students, root, distinct=o.distinct)
        open(o.roster, "w").write("id\n" + "".join(f"{who}\n" for who in expected))
        want, took, again = peace(o, expected)
        twice(o, want)
        kills(o, want, took, again)
    for o.exercise in o.compare if o.compiled else ():
        compiled(o, root)
    o.exercise = EXERCISE
    if o.only_compiled:
        return
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
    o.last_write, o.last_allocation = map(int, open(f"{o.work}/writes").read().split())
    say(f"a run of {o.few} students makes {o.last_write} system calls on the store, and SQLite allocates {o.last_allocation} times in it")
    faults(o, want)


main()
