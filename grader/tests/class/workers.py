#!/usr/bin/env python3
"""workers.py BUILD [--students N] [--kills K]: several graders on one store in PostgreSQL, some killed.

Starts a server of its own in a temporary folder, lets one grader read a class, then two graders work on it without paths. Kills one of
them with SIGKILL at a random time, K times, and starts another one in its place. Requires at the end that each submission has a result,
that no result differs from that of one grader on a file, and that no key was graded by two graders except those whose grader was killed
while it graded them. `make check-workers` runs it; it needs the programs of a PostgreSQL server."""
import argparse, glob, os, random, re, shutil, signal, subprocess, sys, tempfile, time

ROOT = os.path.abspath(os.path.dirname(os.path.abspath(__file__)) + "/../../..")
NOBODY = 65534


def fail(text):
    sys.exit(f"workers: {text}")


def server_programs():
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    return os.path.dirname(found[-1]) if found else None


class Server:
    """A PostgreSQL server on a socket in a folder; it refuses to run as root."""

    def __init__(self, folder, programs):
        self.folder, self.programs = folder, programs
        os.chmod(folder, 0o755)
        self.user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}
        if self.user:
            os.chown(folder, NOBODY, NOBODY)
        self.run("initdb", "-D", f"{folder}/data", "-U", "warpbook", "-A", "trust", "-N", "--encoding=UTF8", "--locale=C.UTF-8")
        self.process = subprocess.Popen([f"{programs}/postgres", "-D", f"{folder}/data", "-k", folder, "-c", "listen_addresses="], cwd=folder,
                                        stdout=open(f"{folder}/log", "w"), stderr=subprocess.STDOUT, **self.user)
        while subprocess.run([f"{programs}/pg_isready", "-qh", folder]).returncode:
            time.sleep(0.1)
        self.sql("postgres", "CREATE DATABASE class")
        self.url = f"postgresql://warpbook@/class?host={folder}"

    def run(self, name, *argv):
        subprocess.run([f"{self.programs}/{name}", *argv], check=True, cwd=self.folder, stdout=subprocess.DEVNULL, **self.user)

    def sql(self, database, text):
        out = subprocess.run([f"{self.programs}/psql", "-qAtXh", self.folder, "-U", "warpbook", "-d", database, "-c", text], capture_output=True, text=True)
        return out.stdout.split("\n")[:-1] if out.returncode == 0 else fail(out.stderr)

    def stop(self):
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait()


def make(folder, students, rng):
    """One in eight compiles and is graded; each file is different."""
    solution = open(f"{ROOT}/solutions/02-coalescing/transpose.cu").read()
    for i in range(students):
        os.makedirs(f"{folder}/s{i:03}")
        text = f"// {rng.random()}\n{solution}" if i % 8 == 0 else f"#error {i} {rng.random()}\n"
        open(f"{folder}/s{i:03}/transpose.cu", "w").write(text)


def watch_claims(server):
    """Records each claim and each result in tables that only this test has."""
    server.sql("class", """
        CREATE TABLE claimed (at timestamptz DEFAULT clock_timestamp(), key text, owner text);
        CREATE TABLE stored (key text, owner text);
        CREATE FUNCTION note_claim() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF NEW.owner <> OLD.owner THEN INSERT INTO claimed (key, owner) VALUES (NEW.key, NEW.owner); END IF; RETURN NEW; END $$;
        CREATE FUNCTION note_result() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            INSERT INTO stored VALUES (OLD.key, OLD.owner); RETURN OLD; END $$;
        CREATE TRIGGER claimed AFTER UPDATE ON claim FOR EACH ROW EXECUTE FUNCTION note_claim();
        CREATE TRIGGER stored AFTER DELETE ON claim FOR EACH ROW WHEN (OLD.owner <> '') EXECUTE FUNCTION note_result()""")


def start_worker(build, url, work):
    return subprocess.Popen([f"{build}/grader", "batch", "--store", url, "--jobs", "1", "--output", "/dev/null"], cwd=work, start_new_session=True,
                            stderr=open(f"{work}/worker.err", "a"))


def work_and_kill(build, server, work, students, kills, rng):
    """Two graders until the end; returns the ids of those that were killed."""
    workers, killed = [start_worker(build, server.url, work) for _ in range(2)], []
    results = lambda: int(server.sql("class", "SELECT count(*) FROM result")[0])
    for k in range(kills):
        target = students * (k + 1) // (kills + 2)
        while results() < target and any(w.poll() is None for w in workers):
            time.sleep(rng.random() * 0.3)
        victim = rng.choice(workers)
        victim.send_signal(signal.SIGKILL)
        victim.wait()
        killed.append(victim.pid)
        print(f"workers: killed one with {results()} of {students} results", flush=True)
        workers[workers.index(victim)] = start_worker(build, server.url, work)
    for w in workers:
        if w.wait() not in (0, 1):
            fail(f"a grader ended with status {w.returncode}: " + open(f"{work}/worker.err").read()[-1000:])
    return killed


def check_claims(server, killed, students):
    owners = {}
    for row in server.sql("class", "SELECT key || '|' || owner FROM claimed ORDER BY at"):
        key, owner = row.split("|")
        owners.setdefault(key, []).append(int(owner.split()[1]))
    twice = {key: pids for key, pids in owners.items() if len(pids) > 1}
    for key, pids in twice.items():
        if any(pid not in killed for pid in pids[:-1]):
            fail(f"{key} was graded by {pids}, of which only {killed} were killed")
    if len(owners) != students:
        fail(f"{len(owners)} keys were claimed, of {students}")
    if len(twice) > len(killed):
        fail(f"{len(twice)} keys were claimed twice by {len(killed)} kills of graders with one job")
    left = server.sql("class", "SELECT count(*) FROM claim")[0]
    if left != "0":
        fail(f"{left} claims are left")
    by_owner = sorted(int(n) for n in server.sql("class", "SELECT count(*) FROM stored GROUP BY owner"))
    print(f"workers: {students} keys, {len(twice)} of them claimed again after a kill; results by grader: {by_owner}")
    if len(by_owner) < 2:
        fail("one grader did all the work")


def grades(build, store, work):
    out = subprocess.run([f"{build}/grader", "export", store, "--format", "csv"], cwd=work, capture_output=True, text=True)
    if out.returncode:
        fail(out.stderr)
    # All but the time of grading, which differs.
    return [re.sub(r'"20\d\d-[^"]*Z"', '""', line) for line in out.stdout.split("\n")]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build"), p.add_argument("--students", type=int, default=40), p.add_argument("--kills", type=int, default=2)
    p.add_argument("--random", type=int, default=int(time.time()))
    a = p.parse_args()
    build, rng = os.path.abspath(a.build), random.Random(a.random)
    programs = server_programs()
    if not programs:
        print("workers: skipped: no PostgreSQL server on this machine (Debian: apt-get install postgresql)")
        return
    print(f"workers: --random {a.random}", flush=True)
    work, folder = tempfile.mkdtemp(prefix="warpbook-workers-"), tempfile.mkdtemp(prefix="warpbook-server-")
    server = Server(folder, programs)
    try:
        make(f"{work}/c", a.students, rng)
        intake = [f"{build}/grader", "intake", f"{work}/c", "--exercise", "transpose", "--output", "/dev/null", "--store"]
        for store in (server.url, f"{work}/file.db"):
            if subprocess.run([*intake, store]).returncode > 1:
                fail("the intake failed")
        for store in (server.url, f"{work}/file.db"):  # one seed for both
            subprocess.run([f"{build}/grader", "batch", "--store", store, "--seed", "s1", "--shard", "1/1000000", "--output", "/dev/null"], check=False)
        watch_claims(server)
        begin = time.time()
        killed = work_and_kill(build, server, work, a.students, a.kills, rng)
        print(f"workers: {time.time() - begin:.0f} s")
        check_claims(server, killed, a.students)
        subprocess.run([f"{build}/grader", "batch", "--store", f"{work}/file.db", "--output", "/dev/null"])
        if grades(build, server.url, work) != grades(build, f"{work}/file.db", work):
            fail("the grades differ from those of one grader on a file")
        print("workers: the grades equal those of one grader on a file")
    finally:
        server.stop()
        shutil.rmtree(work), shutil.rmtree(folder)


main()
