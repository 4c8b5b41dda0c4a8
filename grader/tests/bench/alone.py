"""alone.py — measures the time of nvcc and ptxas alone for a file, with the grader's options."""
import concurrent.futures, os, re, shutil, subprocess, tempfile, time


def flags_of(root, exercise=None):
    """nvcc's, as the grader has them. An exercise that asks for it is compiled for sm_90a."""
    tests = [open(f"{root}/chapters/{exercise}_test.c").read()] if exercise else []
    cc = "90a" if any(".sm_90a = true" in t for t in tests) else "90"
    table = re.search(r"const flags\[\] = \{(.*?)\};", open(f"{root}/grader/grade/build.c").read(), re.S)[1]
    line_table = re.search(r'#define LINE_TABLE_FLAGS "(.*)"', open(f"{root}/common/processor.h").read())[1]
    table = table.replace('" LINE_TABLE_FLAGS', line_table + '"')
    return re.findall(r'"([^"]*)"', table) + ["-gencode", f"arch=compute_{cc},code=compute_{cc}"]


def timed(work):
    """Runs the command; returns wall seconds, and processor seconds of its finished child processes."""
    before, began = os.times(), time.time()
    work()
    after = os.times()
    return time.time() - began, after.children_user + after.children_system - before.children_user - before.children_system


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
