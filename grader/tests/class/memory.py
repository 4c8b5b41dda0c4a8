#!/usr/bin/env python3
"""memory.py BUILD [--limit MIB] [EXERCISE...]: the peak memory of grading each exercise's model solution and starter file in a
fresh container, with an empty cache: the grader, its device and host processes and nvcc together. `make check-memory` runs it;
it fails if one takes more than --most (620 MiB, for containers of 768 MB). A control group without swap holds each run below --limit (768;
0 = none, where a case is drawn ahead, which takes more), and the run must still succeed. It needs a memory control group that
it may make (cgroup v1 or v2, root)."""
import argparse, glob, json, os, shutil, subprocess, sys, threading, time

ROOT = os.path.abspath(os.path.dirname(os.path.abspath(__file__)) + "/../../..")


class Group:
    """A control group of memory; `peak` counts what can't be given back: pages of programs and of shared memory, no file cache."""

    def __init__(self, limit):
        self.v2 = os.path.exists("/sys/fs/cgroup/cgroup.procs")
        self.path = ("/sys/fs/cgroup/" if self.v2 else "/sys/fs/cgroup/memory/") + f"warpbook-{os.getpid()}"
        os.makedirs(self.path, exist_ok=True)
        self.peak = 0
        if limit:
            self.put("memory.max" if self.v2 else "memory.limit_in_bytes", limit << 20)
            for name in ("memory.swap.max", "memory.memsw.limit_in_bytes"):
                if os.path.exists(f"{self.path}/{name}"):
                    self.put(name, 0 if self.v2 else limit << 20)

    def put(self, name, value):
        with open(f"{self.path}/{name}", "w") as f:
            f.write(str(value))

    def now(self):
        stat = dict(line.split() for line in open(f"{self.path}/memory.stat"))
        names = ("anon", "shmem") if self.v2 else ("total_rss", "total_shmem")
        return sum(int(stat.get(n, 0)) for n in names)

    def enter(self):
        self.put("cgroup.procs", os.getpid())

    def killed(self):
        name = "memory.events" if self.v2 else "memory.oom_control"
        return dict(line.split() for line in open(f"{self.path}/{name}")).get("oom_kill", "0")

    def run(self, argv, **how):
        p = subprocess.Popen(argv, preexec_fn=self.enter, **how)
        while p.poll() is None:
            self.peak = max(self.peak, self.now())
            time.sleep(0.02)
        return p

    def close(self):
        for _ in range(100):
            try:
                return os.rmdir(self.path)
            except OSError:
                time.sleep(0.05)


def fresh(build, work):
    """The book with this build and an empty cache, as in a container that has just been made."""
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(f"{work}/build")
    for name in ("chapters", "solutions", "common"):
        os.symlink(f"{ROOT}/{name}", f"{work}/{name}")
    for name in ("lib", "libexec"):
        shutil.copytree(f"{build}/{name}", f"{work}/build/{name}")
    shutil.copy(f"{build}/grader", f"{work}/build/grader")
    os.symlink(os.path.realpath(f"{build}/cuda"), f"{work}/build/cuda")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("exercises", nargs="*")
    p.add_argument("--limit", type=int, default=768)
    p.add_argument("--most", type=int, default=620)
    p.add_argument("--threads", default="2")
    o = p.parse_args()
    build = os.path.abspath(o.build)
    names = o.exercises or sorted(f[len(f"{ROOT}/chapters/"):-3] for f in glob.glob(f"{ROOT}/chapters/*/*.cu"))
    names = [n if "/" in n else glob.glob(f"{ROOT}/chapters/*/{n}.cu")[0][len(f"{ROOT}/chapters/"):-3] for n in names]
    work, worst, bad = f"{build}/tests/memory", 0, []
    for name in names:
        peaks = []
        for what in ("solutions", "chapters"):
            fresh(build, work)
            g = Group(o.limit)
            out = f"{work}/out.json"
            run = g.run([f"{work}/build/grader", "run", name, "--file", f"{ROOT}/{what}/{name}.cu", "--threads", o.threads, "--seed", "1",
                         "--format", "json", "--output", out], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            said = run.stderr.read().decode()
            r = json.load(open(out))["exercises"][0] if os.path.exists(out) else {"verdict": "none", "log": said}
            want = ("AC",) if what == "solutions" else ("RTE",) if name == "10-warps/warp_sync" else ("PART", "WA")
            if r["verdict"] not in want:
                bad.append(f"{name} {what}: {r['verdict']} {r['log'][:200]}")
            peaks.append((g.peak / (1 << 20), r["verdict"]))
            g.close()
        most = max(m for m, _ in peaks)
        worst = max(worst, most)
        print(f"{name:36} " + "  ".join(f"{m:6.0f} MiB {v:5}" for m, v in peaks) + ("  too much" if most > o.most else ""), flush=True)
    print(f"most: {worst:.0f} MiB of {len(names)} exercises")
    if bad or worst > o.most:
        sys.exit("\n".join(bad) or f"memory: more than {o.most} MiB")


if __name__ == "__main__":
    main()
