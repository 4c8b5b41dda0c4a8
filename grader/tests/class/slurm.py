#!/usr/bin/env python3
"""slurm.py BUILD: a small class under Slurm on this machine: slurmctld and four slurmd with node names of their own, munge between
them, in a folder of their own. grader/template/slurm.sh runs an array of eight tasks; the merged result must equal that of one run. Two
tasks grade the same shard: merge accepts equal results, and refuses when one of them is changed. `make check-slurm`
runs it; it needs root and the Debian packages slurmd, slurmctld, slurm-client and munge."""
import glob, os, shutil, sqlite3, subprocess, sys, time

ROOT = os.path.abspath(os.path.dirname(os.path.abspath(__file__)) + "/../../..")
NODES = 4
PORT = 17900


def fail(text):
    sys.exit(f"slurm: {text}")


def configure(work):
    name = subprocess.run(["hostname", "-s"], capture_output=True, text=True).stdout.strip()
    nodes = "".join(f"NodeName=n{i} NodeHostname={name} NodeAddr=127.0.0.1 Port={PORT + 2 + i} CPUs=1 RealMemory=3000 State=UNKNOWN\n" for i in range(NODES))
    open(f"{work}/slurm.conf", "w").write(
        f"ClusterName=warpbook\nSlurmctldHost={name}(127.0.0.1)\nSlurmctldPort={PORT}\nSlurmdPort={PORT + 1}\nSlurmUser=root\nAuthType=auth/munge\n"
        f"AuthInfo=socket={work}/munge.socket\nCryptoType=crypto/munge\nStateSaveLocation={work}/state\nSlurmdSpoolDir={work}/spool-%n\nSlurmctldPidFile={work}/ctld.pid\n"
        f"SlurmdPidFile={work}/slurmd-%n.pid\nSlurmctldLogFile={work}/ctld.log\nSlurmdLogFile={work}/slurmd-%n.log\nProctrackType=proctrack/pgid\n"
        f"TaskPlugin=task/none\nSelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nSwitchType=switch/none\nReturnToService=2\nMpiDefault=none\n"
        f"SchedulerParameters=defer_batch,sched_interval=1\n{nodes}PartitionName=all Nodes=n[0-{NODES - 1}] Default=YES MaxTime=30 State=UP\n")


def start(work):
    """The daemons, which end with this program."""
    running = []
    os.makedirs(f"{work}/munge", mode=0o700)
    open(f"{work}/munge/key", "wb").write(os.urandom(128))
    os.chmod(f"{work}/munge/key", 0o600)
    munge = ["munged", "--foreground", "--force", f"--socket={work}/munge.socket", f"--key-file={work}/munge/key", f"--pid-file={work}/munge/pid",
             f"--log-file={work}/munge/log", f"--seed-file={work}/munge/seed"]
    for argv in [munge, ["slurmctld", "-D", "-f", f"{work}/slurm.conf"]] + [["slurmd", "-D", "-f", f"{work}/slurm.conf", "-N", f"n{i}"] for i in range(NODES)]:
        running.append(subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=open(f"{work}/{os.path.basename(argv[0])}.err", "a")))
        time.sleep(1)
    return running


def slurm(work, *argv):
    return subprocess.run(argv, env={**os.environ, "SLURM_CONF": f"{work}/slurm.conf"}, capture_output=True, text=True, cwd=ROOT)


def wait(work, what, until, seconds):
    end = time.time() + seconds
    while time.time() < end:
        said = slurm(work, *what).stdout
        if until(said):
            return said
        time.sleep(1)
    fail(f"{' '.join(what)} after {seconds} s: {said}\n" + open(f"{work}/ctld.log").read()[-1500:])


def make(folder, n):
    solution = open(f"{ROOT}/solutions/02-coalescing/transpose.cu").read()
    for i in range(n):
        os.makedirs(f"{folder}/s{i:03}")
        open(f"{folder}/s{i:03}/transpose.cu", "w").write(solution if i % 16 == 0 else f"#error {i}\n")


def marks(store):
    db = sqlite3.connect(store)
    return db.execute("SELECT student, exercise, verdict, score, seed, source_sha256, key FROM gradebook ORDER BY 1, 2").fetchall()


def grader(build, *argv, status=(0, 1)):
    p = subprocess.run([f"{build}/grader", *argv], capture_output=True, text=True)
    if p.returncode not in status:
        fail(f"grader {' '.join(argv)}: {p.returncode}: {p.stderr}")
    return p


def main():
    build = os.path.abspath(sys.argv[1])
    for program in ("munged", "slurmctld", "slurmd", "sbatch"):
        if not shutil.which(program):
            fail(f"{program} is missing: apt-get install --no-install-recommends slurmd slurmctld slurm-client munge")
    work = "/tmp/warpbook-slurm"
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(f"{work}/state")
    os.chmod(work, 0o755)
    make(f"{work}/in", 64)
    configure(work)
    running = start(work)
    try:
        wait(work, ["sinfo", "-h", "-o", "%D %T"], lambda s: f"{NODES} idle" in s, 60)
        p = slurm(work, "sbatch", "--parsable", "--array=1-8", "--output=/dev/null", "--export=ALL", "grader/template/slurm.sh", f"{work}/in", f"{work}/results", "--seed", "s1")
        if p.returncode:
            fail(f"sbatch: {p.stderr}")
        began, seen = time.time(), set()
        def over(said):
            seen.update(line.split()[1] for line in said.splitlines() if len(line.split()) > 1 and line.split()[1].startswith("n"))
            return not said.strip()
        wait(work, ["squeue", "-h", "-o", "%i %N"], over, 400)
        parts = sorted(glob.glob(f"{work}/results/part-*.db"))
        if len(parts) != 8:
            fail(f"{len(parts)} of 8 shards are there\n" + "".join(open(f).read()[-800:] for f in glob.glob(f"{work}/slurmd-*.log")))
        took = time.time() - began
    finally:
        for p in reversed(running):
            p.terminate()
        for p in running:
            p.wait()
    grader(build, "batch", f"{work}/in", "--store", f"{work}/peace.db", "--seed", "s1", "--output", f"{work}/peace.txt")
    grader(build, "merge", f"{work}/hw1.db", *parts)
    if marks(f"{work}/hw1.db") != marks(f"{work}/peace.db"):
        fail("merged shards are not what one run gives")
    print(f"8 shards on nodes {', '.join(sorted(seen))}, {took:.0f} s: merged, all {len(marks(f'{work}/hw1.db'))} marks are those of one run")
    again = grader(build, "merge", f"{work}/hw1.db", f"{work}/peace.db").stdout
    if not again.strip().endswith("already present, all equal"):
        fail(again)
    db = sqlite3.connect(f"{work}/peace.db")
    db.execute("UPDATE result SET score = 3 WHERE key = (SELECT key FROM result WHERE verdict = 'AC' LIMIT 1)"), db.commit(), db.close()
    refused = grader(build, "merge", f"{work}/hw1.db", f"{work}/peace.db", status=(2, 3))
    print(f"graded twice: {again.split(': ')[-1].strip()}; with one changed: {refused.stderr.strip()[:160]}")


main()
