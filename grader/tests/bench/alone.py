"""alone.py — measures the time of nvcc and ptxas alone for a file, with the grader's options."""
import atexit, concurrent.futures, os, re, shutil, subprocess, tempfile, time


def flags_of(root, exercise=None):
    """nvcc's, as the grader has them. An exercise that asks for it is compiled for sm_90a."""
    tests = [open(f"{root}/chapters/{exercise}_test.c").read()] if exercise else []
    cc = "90a" if any(".sm_90a = true" in t for t in tests) else "90"
    table = re.search(r"const flags\[\] = \{(.*?)\};", open(f"{root}/grader/grade/build.c").read(), re.S)[1]
    line_table = re.search(r'#define LINE_TABLE_FLAGS "(.*)"', open(f"{root}/common/processor.h").read())[1]
    table = table.replace('" LINE_TABLE_FLAGS', line_table + '"')
    return re.findall(r'"([^"]*)"', table) + ["-gencode", f"arch=compute_{cc},code=compute_{cc}"]


class Account:
    """Counts processor seconds. A process that a sandbox's end kills is waited for by nobody, so the kernel drops its time, and
    os.times() lacks it: the device process's, mostly. So this process enters a control group of its own (cgroup v1, root), which
    counts all that it starts."""

    BASE = "/sys/fs/cgroup/cpuacct"

    def __init__(self):
        self.path = f"{self.BASE}/warpbook-time-{os.getpid()}"
        try:
            os.mkdir(self.path)
            self.enter(self.path)
            atexit.register(self.close)
        except OSError:
            self.path = None
            print("note: without a control group, processor times lack processes that were killed")

    def enter(self, path):
        with open(f"{path}/cgroup.procs", "w") as f:
            f.write(str(os.getpid()))

    def seconds(self):
        if not self.path:
            return sum(os.times()[:4])
        with open(f"{self.path}/cpuacct.usage") as f:
            return int(f.read()) / 1e9

    def close(self):
        self.enter(self.BASE)
        os.rmdir(self.path)


account = None


def timed(work):
    """Runs the command; returns wall seconds, and processor seconds of this process and all that it started."""
    global account
    account = account or Account()
    before, began = account.seconds(), time.time()
    work()
    return time.time() - began, account.seconds() - before


def nvcc_alone(build, files, flags):
    """Builds the files, one per core at a time; returns wall and processor seconds."""
    def one(path):
        with tempfile.TemporaryDirectory() as at:
            name = os.path.basename(path)
            shutil.copy(path, f"{at}/{name}")
            subprocess.run([f"{build}/cuda/bin/nvcc", *flags, name, f"{build}/lib/libwbcudart.a", "-o", "out.so"], cwd=at, check=True,
                           env={"PATH": f"{build}/cuda/bin:/usr/bin", "TMPDIR": at})
            subprocess.run([f"{build}/cuda/bin/ptxas", flags[-1].replace("arch=compute", "-arch=sm").split(",")[0], "-o", "out.cubin", os.path.splitext(name)[0] + ".ptx"], cwd=at, check=True)

    def every():
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            list(pool.map(one, files))
    return timed(every)
