#!/usr/bin/env python3
"""truth.py: compares the simulator's counters with Nsight Compute's, launch by launch, without a GPU.

    python3 grader/tests/gpu/truth.py [PROGRAM...]       compares; status 1 if an unlisted launch differs (make check-counters)
    python3 grader/tests/gpu/truth.py --list             lists what differs now in differs-h100.tsv, with the reasons of REASONS
    python3 grader/tests/gpu/truth.py --measure          on a machine with a GPU, nvcc and ncu: the figures anew, counters-h100.tsv
    python3 grader/tests/gpu/truth.py --sanitize         there: compute-sanitizer's four tools over every program

The programs run every version of every exercise once, at an awkward size (exercises.def, of which generate() makes CUDA on driver.cuh),
and the micro kernels beside this file. `simgpu nvcc` builds them here, nvcc there. Figures: counters-h100.tsv, a row a launch. Run from
the top of the tree, after `make`."""
import concurrent.futures, csv, glob, json, os, re, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
FIGURES, DIFFERS = f"{HERE}/counters-h100.tsv", f"{HERE}/differs-h100.tsv"
BUILT, LINKAGE = "build/tests/gpu", 'extern "C" '
G, S = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum", "smsp__sass_inst_executed_op_shared_{}.sum"
W, C = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
# Our counter: ncu's, of which several are added up.
COUNTERS = {
    "global_load_requests": [G.format("requests", "ld")], "global_store_requests": [G.format("requests", "st")],
    "global_load_sectors": [G.format("sectors", "ld")], "global_store_sectors": [G.format("sectors", "st")],
    "atomic_requests": [G.format("requests", "atom")], "reduction_requests": [G.format("requests", "red")],
    "atomic_sectors": [G.format("sectors", "atom"), G.format("sectors", "red")],
    "shared_load_requests": [S.format("ld"), "smsp__sass_inst_executed_op_ldsm.sum"],
    "shared_store_requests": [S.format("st"), "smsp__inst_executed_op_ldgsts.sum"],
    "shared_load_wavefronts": [W.format("ld")], "shared_store_wavefronts": [W.format("st")],
    "shared_load_bank_conflicts": [C.format("ld")], "shared_store_bank_conflicts": [C.format("st")],
    "shared_atomic_requests": ["smsp__inst_executed_op_shared_atom.sum"],
    "local_requests": ["l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum"],
    "local_sectors": ["l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"],
}
REASONS = {
    "atomic_sectors": "lanes on one word: ncu counts a sector for each of them",
    "shared_atomic_requests": "additions of floats and of 64 bits are loops of compare-and-swap in machine code",
    "local_requests": "ptxas keeps in registers, or spills, what PTX does not show",
    "local_sectors": "ptxas keeps in registers, or spills, what PTX does not show",
    "shared_load_bank_conflicts": "ncu's counter holds turns lost to other traffic as well",
    "shared_store_bank_conflicts": "ncu's counter holds turns lost to other traffic as well",
}
CLAMPED = "wmma_gemm", "mma_swizzle", "warpgroup_tiles", "attention", "sgemm"
POLLED = "blocks look at the grid's barrier until it opens: how often is chance, and the simulator's look but once"
MERGED = "ptxas merges, unrolls or drops accesses that PTX has"

def exercises():
    """{name: (sizes, buffers, arguments)}: the rows of exercises.def."""
    rows = [l.split("|") for l in open(f"{HERE}/exercises.def") if l.strip() and l[0] != "#"]
    return {row[0].strip(): [column.strip() for column in row[1:]] for row in rows}

def programs():
    return sorted([os.path.basename(f)[:-3] for f in glob.glob(f"{HERE}/*.cu")] + list(exercises()))

def versions(name):
    """[(label, source)]. A label is the namespace, so a part of the kernels' names, the keys of the figures."""
    steps = {re.search(r"-(\d+)-", f)[1]: f for f in glob.glob(f"solutions/*/{name}-[0-9]*.cu")}
    found = [("sk", f) for f in glob.glob(f"chapters/*/{name}.cu")] + [("s" + n, steps[n]) for n in sorted(steps, key=int)]
    return found + [("model", f) for f in glob.glob(f"solutions/*/{name}.cu")]

def declaration(buffer):
    name, kind, count, pinned, draw = re.fullmatch(r"(\w+): (\w+)\[(.*?)\] (pinned )?(.*)", buffer.strip()).groups()
    return f"    {kind} *{name} = on.buffer<{kind}>({count}, {draw}{', true' if pinned else ''});\n"

def generate(name, timed=False):
    """Returns the program of a row: each version in a namespace, its entry without C linkage, so that the names differ. The starter file, which may be slow at
    the timed size, comes last there."""
    usual, buffers, arguments, larger = exercises()[name]
    sizes = {word.split("=")[0]: word for word in (usual + " " + larger * timed).split()}.values()
    order = versions(name)[timed:] + versions(name)[:timed]
    text = '#include "driver.cuh"\n'
    for label, source in order:
        with open(source) as f: text += f'namespace {label} {{\n#line 1 "{source}"\n{f.read().replace(LINKAGE, "")}}}\n'
    text += "int main() {\n    stage on;\n" + "".join(f"    const int {size};\n" for size in sizes)
    text += "".join(map(declaration, buffers.split(";")))
    for label, _ in order:
        call = f"{label}::{name}({', '.join(arguments.split())})"
        text += f'    on.version("{label}", [&] {{ {call}; }});\n'
    return text + "}\n"

def source_of(name):
    if name not in exercises(): return f"{HERE}/{name}.cu"
    path, text = f"{BUILT}/{name}.cu", generate(name)
    if not os.path.exists(path) or open(path).read() != text:
        with open(path, "w") as f: f.write(text)
    return path

def architecture(name, usual):
    """Options: those that all other programs are built with, but what uses wgmma is for sm_90a alone."""
    own = glob.glob(f"chapters/*/{name}_test.c")
    with_wgmma = own and ".sm_90a = true" in open(own[0]).read()
    if not with_wgmma: return usual
    return ["-gencode", "arch=compute_90a,code=" + ("sm_90a" if usual else "compute_90a")]

def build(name, compiler, suffix, usual=()):
    os.makedirs(BUILT, exist_ok=True)
    out, source = f"{BUILT}/{name}{suffix}", source_of(name)
    read = [source] + glob.glob(f"{HERE}/*.cuh") + [f for _, f in versions(name)]
    if not os.path.exists(out) or os.path.getmtime(out) < max(map(os.path.getmtime, read)):
        subprocess.run([*compiler, *architecture(name, [*usual]), "-O3", "-lineinfo", "-std=c++17", "-I.", f"-I{HERE}", source, "-o", out], check=True)
    return out

def simulate(name):
    """[(kernel, {counter: value})] in the order of the launches."""
    program, out = build(name, ["build/simgpu", "nvcc"], ""), f"{BUILT}/{name}.json"
    subprocess.run(["build/simgpu", "run", "--device", "h100", "--no-sanitize", "--counters", "json", "--counters-file", out,
                    program], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(out) as f:
        return [(l["kernel"], l["counters"]) for l in json.load(f)["launches"]]

def read(path, keys):
    table = {}
    for row in csv.DictReader(open(path), delimiter="\t"):
        table.setdefault(tuple(row[k] for k in keys), []).append(row)
    return table

def compare(name, truth):
    """[(program, launch, kernel, counter, ours, ncu)] that are compared."""
    seen, rows = {}, []
    for launch, (kernel, counters) in enumerate(simulate(name)):
        n = seen[kernel] = seen.get(kernel, -1) + 1
        known = truth.get((name, kernel), [])
        for counter in COUNTERS if n < len(known) else ():
            if known[n][counter] != "":
                rows.append((name, launch, kernel, counter, counters[counter], int(known[n][counter])))
    return rows

def reason(row):
    if row[0] == "bulk_rows" and row[5] == 0: return "mbarriers: arrivals and waits are SYNCS in machine code, and not among ncu's accesses to shared memory"
    if row[0] == "stages" and row[3] == "shared_store_requests": return "ncu counts LDGSTS of which no lane is on: the copies ahead of the last layers"
    if row[3] == "shared_store_wavefronts" and (row[5] == 0 or row[0] in ("async_tiles", "stages")): return "what cp.async writes is LDGSTS, and not among ncu's stores"
    if row[0] == "spikes" and row[3] in ("global_load_requests", "global_load_sectors"): return POLLED
    if row[3].startswith("shared_wavefronts") and row[4] < row[5]: return REASONS["shared_load_bank_conflicts"]
    if "copies_async" in row[2]: return "cp.async is LDGSTS in machine code: ncu counts sectors for each group of lanes"
    if row[3] == "global_load_sectors" and row[0] in CLAMPED: return "a copy of 16 bytes a lane from rows that are one (clamped): ncu counts each quarter of the warp"
    if row[0] == "microsh" and row[3] == "shared_load_requests": return REASONS["shared_atomic_requests"]
    return REASONS.get(row[3], MERGED)

def check(names, write):
    truth = read(FIGURES, ("program", "kernel"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        rows = [r for part in pool.map(lambda n: compare(n, truth), names) for r in part]
    different = [r for r in rows if r[4] != r[5]]
    if write:
        head, *old = open(DIFFERS).readlines()
        new = ["\t".join(map(str, r + (reason(r),))) + "\n" for r in different]
        kept = [l for l in old if l.split("\t")[0] not in names]
        with open(DIFFERS, "w") as f: f.writelines([head] + sorted(kept + new, key=lambda l: l.split("\t")[0]))
    listed = {k for k in read(DIFFERS, ("program", "launch", "counter", "simulated", "ncu"))}
    unlisted = [r for r in different if (r[0], str(r[1]), r[3], str(r[4]), str(r[5])) not in listed]
    print("| counter | launches that have it | equal | listed |\n|---|---|---|---|")
    for counter in COUNTERS:
        has = [r for r in rows if r[3] == counter and (r[4] or r[5])]
        equal = sum(r[4] == r[5] for r in has)
        print(f"| `{counter}` | {len(has)} | {equal} | {len(has) - equal - sum(r[3] == counter for r in unlisted)} |")
    print(f"\n{len({r[:2] for r in rows})} launches were compared.")
    for r in unlisted:
        print(f"{r[0]}, launch {r[1]} ({r[2]}): {r[3]} is {r[4]}, ncu {r[5]}, and {os.path.basename(DIFFERS)} does not have it")
    return 1 if unlisted else 0

def build_all(names):
    """For the GPU that is there, as many at a time as there are cores. {name: program}"""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(names, pool.map(lambda n: build(n, ["nvcc"], "-gpu", ["-arch=native"]), names)))

def profiled(name, said):
    """Rows of the figures, of ncu's CSV: there, a line is a launch and a metric."""
    launches = {}
    for row in csv.DictReader(said[said.index('"ID"'):].splitlines()):
        launch = launches.setdefault(int(row["ID"]), {"kernel": row["Kernel Name"]})
        launch[row["Metric Name"]] = int(float(row["Metric Value"].replace(",", "")))
    return ["\t".join([name, l["kernel"]] + [str(sum(l[m] for m in ms)) for ms in COUNTERS.values()]) for _, l in sorted(launches.items())]

def renew(rows, path=FIGURES):
    """The file with the new rows of each program that has some, and the old ones of all others."""
    kept = {}
    if os.path.exists(path):
        for line in open(path).read().splitlines()[1:]: kept.setdefault(line.split("\t")[0], []).append(line)
    kept.update(rows)
    with open(path, "w") as f:
        f.write("\t".join(["program", "kernel"] + list(COUNTERS)) + "\n")
        f.writelines(line + "\n" for name in kept for line in kept[name])

def measure(names):
    """One program at a time: ncu has the GPU for itself. What fails keeps its old figures, and is said."""
    metrics, bad = sorted({m for part in COUNTERS.values() for m in part}), 0
    for name, program in build_all(names).items():
        ncu = ["ncu", "--csv", "--print-kernel-base", "mangled", "--clock-control", "none", "--metrics", ",".join(metrics), program]
        run = subprocess.run(ncu, capture_output=True, text=True)
        if run.returncode or '"ID"' not in run.stdout:
            print(f"{name}: ncu ends with {run.returncode}: {(run.stderr or run.stdout).strip()[-500:]}")
            bad = 1
        else: renew({name: profiled(name, run.stdout)})
    return bad

def sanitize(names):
    def one(job):
        out = subprocess.run(["compute-sanitizer", "--tool", job[1], f"{BUILT}/{job[0]}-gpu"], capture_output=True, text=True).stdout
        return [l for l in out.splitlines() if "SUMMARY" in l and "SUMMARY: 0 " not in l] + ([] if "SUMMARY" in out else ["nothing was checked"])
    names = [n for n in names if not n.startswith("micro")]
    build_all(names)
    jobs = [(n, t) for n in names for t in ("memcheck", "racecheck", "initcheck", "synccheck")]
    with concurrent.futures.ThreadPoolExecutor(14) as pool:
        bad = [(j, said) for j, said in zip(jobs, pool.map(one, jobs)) if said]
    print(f"{len(jobs) - len(bad)} of {len(jobs)} are clean")
    for job, said in bad: print(*job, *said)
    return 1 if bad else 0

def main():
    names = [a for a in sys.argv[1:] if not a.startswith("--")] or programs()
    if "--measure" in sys.argv: return measure(names)
    if "--sanitize" in sys.argv: return sanitize(names)
    return check(names, "--list" in sys.argv)

if __name__ == "__main__":
    sys.exit(main())
