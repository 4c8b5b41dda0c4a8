#!/usr/bin/env python3
"""fit.py [DEVICE]: runs the time model on the micro kernels with measured GPU times, to which it is fitted.

Models every launch of micro.cu for DEVICE (h100; h200 has figures, too), from PTX and, if build/nvdisasm exists, from machine code,
and prints the errors of each family beside micro-DEVICE.tsv. --rows prints every launch. Run from the top of the tree, after `make`."""
import concurrent.futures, math, os, re, subprocess, sys

HERE, BUILT = os.path.dirname(os.path.abspath(__file__)), "build/timing"
SOURCE = f"{HERE}/micro.cu"

def figures(device):
    return {name: float(us) for name, us in (l.split("\t")[:2] for l in open(f"{HERE}/micro-{device}.tsv") if l.strip())}

def launches(name):
    return {"empty-twice": 2, "empty-4-times": 4}.get(name, 1)

def build():
    """The program, and the disassembler's listing of its kernels or None."""
    os.makedirs(BUILT, exist_ok=True)
    program, listing = f"{BUILT}/micro", f"{BUILT}/micro.sass"
    fresh = lambda f: os.path.exists(f) and os.path.getmtime(f) > os.path.getmtime(SOURCE)
    if not fresh(program) or os.path.getmtime(program) < os.path.getmtime("build/lib/libwbcudart.a"):
        subprocess.run(["build/simgpu", "nvcc", "-O3", SOURCE, "-o", program], check=True)
    if not os.path.exists("build/nvdisasm"): return program, None
    if not fresh(listing):
        nvcc = ["build/cuda/bin/nvcc", "-ptx", "-arch=compute_90", "-O3", "-lineinfo", SOURCE, "-o", f"{BUILT}/micro.ptx"]
        subprocess.run(nvcc, check=True)
        subprocess.run(["build/cuda/bin/ptxas", "-arch=sm_90", "-lineinfo", f"{BUILT}/micro.ptx", "-o", f"{BUILT}/micro.cubin"], check=True)
        with open(listing, "w") as f: subprocess.run(["build/nvdisasm", "-c", "-gp", "-hex", f"{BUILT}/micro.cubin"], stdout=f, check=True)
    return program, listing

def model(device, program, listing):
    """{case: microseconds}, of its launches added up. What launches nothing, or takes the simulator too long, has no line."""
    code = ["--machine-code", listing] if listing else []
    out = subprocess.run(["build/simgpu", "run", "--device", device, "--no-sanitize", "--time", "--cold-caches"] + code + [program, "0"],
                         capture_output=True, text=True, check=True)
    times = [float(m[1]) for m in re.finditer(r": ([\d.]+) us modelled.*?(?: \((\d+) times\))?$", out.stderr, re.M) for _ in range(int(m[2] or 1))]
    result, at = {}, 0
    for name in (l.split("\t")[0] for l in out.stdout.splitlines()):
        result[name] = sum(times[at:at + launches(name)])
        at += launches(name)
    if at != len(times): sys.exit(f"{len(times)} launches were modelled, {at} expected")
    return result

def family(name):
    return re.sub(r"[-\d].*", "", name)

def summary(errors):
    e = sorted(math.exp(abs(x)) - 1 for x in errors)
    return f"{100 * e[len(e) // 2]:.1f} % | {100 * e[int(len(e) * 0.9)]:.0f} %"

def main():
    args = [a for a in sys.argv[1:] if not a.startswith("--")]
    device = args[0] if args else "h100"
    program, listing = build()
    ways = {"PTX": None} | ({"machine code": listing} if listing else {})
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        modelled = dict(zip(ways, pool.map(lambda l: model(device, program, l), ways.values())))
    error = lambda way, name, us: math.log(modelled[way][name] / us)
    cases = [(name, us) for name, us in figures(device).items() if all(name in m for m in modelled.values())]
    print("| family | n |" + "".join(f" {w}: median error | 9 of 10 within |" for w in ways) + "\n|---|---|" + "---|---|" * len(ways))
    for f in sorted({family(name) for name, _ in cases}) + [""]:
        own = [(name, us) for name, us in cases if f in ("", family(name))]
        print(f"| {f or '**all**'} | {len(own)} | " + " | ".join(summary([error(w, *c) for c in own]) for w in ways) + " |")
    if "--rows" in sys.argv:
        print("\n| launch | measured, us |" + "".join(f" {w} |" for w in ways) + "\n|---|---|" + "---|" * len(ways))
        for name, us in cases:
            print(f"| {name} | {us:.2f} |" + "".join(f" {100 * (modelled[w][name] / us - 1):+.0f} % ({modelled[w][name]:.2f}) |" for w in ways))

if __name__ == "__main__":
    main()
