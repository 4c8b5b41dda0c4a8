#!/usr/bin/env python3
"""measured.py REPORT.json [DEVICE]: compares the time model with times that `make gpu-report` measured.

Every version of every exercise is modelled anew, for DEVICE (h100); the modelled times in the report itself, from the model of that
time, are printed as "before". The model is fitted to fit.py's launches, not to these, except for two constants
(docs/results/time-model-history.md names them), which were lowered after a look at these times. Times are modelled from PTX, as in
grading; with --machine-code from what ptxas makes (build/nvdisasm); with --empty-caches as Nsight Compute runs kernels (bound.py).
--json=FILE keeps the modelled times, by kernel; --from=FILE takes them from there; --before=FILE compares with such a file in place of the
report's own; --rows prints every version, with what bounds its longest kernel."""
import concurrent.futures, glob, json, os, subprocess, sys

GRADER = "build/grader"
KEPT = ("name", "launches", "modelled_us", "bound_by", "occupancy", "stalls_us")
WAY = [a for a in ("--machine-code", "--empty-caches") if a in sys.argv]

def source(exercise, version):
    chapter, name = exercise.split("/")
    return f"solutions/{chapter}/{name}{'-' + version if version else ''}.cu"

def model(job):
    exercise, version, device = job
    out = subprocess.run([GRADER, "run", exercise, "--file", source(exercise, version), "--device", f"sim:{device}",
                          "--seed", "measured", "--threads", "1", "--format", "json"] + WAY, capture_output=True, text=True)
    try:
        result = json.loads(out.stdout)["exercises"][0]
        speed, kernels = result["speed"], [{k: kernel[k] for k in KEPT} for kernel in result["kernels"]]
        return {"us": speed["student_us"], "interval_us": speed["interval_us"], "kernels": kernels}
    except (ValueError, KeyError, IndexError, TypeError):
        return {"us": 0, "interval_us": (0, 0), "kernels": [], "why": (out.stdout + out.stderr)[-200:]}

def longest(m):
    """What bounds the kernel that takes longest, without the shares that follow."""
    kernel = max(m["kernels"], key=lambda k: k["modelled_us"], default={"bound_by": m.get("why", "")})
    return kernel["bound_by"].split(" (")[0]

def option(name):
    """FILE of --name=FILE."""
    return next((a[len(name) + 1:] for a in sys.argv[1:] if a.startswith(name + "=")), None)

def factor(a, b):
    return max(a, b) / min(a, b)

def summary(rows, which):
    """rows: (exercise, version, measured, modelled, interval)."""
    errors = sorted(factor(r[2], r[3]) - 1 for r in rows)
    pairs = [(a, b) for i, a in enumerate(rows) for b in rows[i + 1:] if a[0] == b[0] and factor(a[2], b[2]) > 1.1]
    right = sum((a[2] < b[2]) == (a[3] < b[3]) for a, b in pairs)
    inside = sum(r[4][0] <= r[2] <= r[4][1] for r in rows)
    n = len(rows)
    return (f"| {which} | {n} | {100 * errors[n // 2]:.1f} % | {100 * errors[int(n * 0.9)]:.0f} % | "
            f"{100 * sum(e <= 0.25 for e in errors) / n:.0f} % | {right} of {len(pairs)} ({100 * right / max(1, len(pairs)):.1f} %) | {inside} |")

def main():
    args = [a for a in sys.argv[1:] if not a.startswith("--")]
    report, device = json.load(open(args[0])), args[1] if len(args) > 1 else "h100"
    earlier = json.load(open(option("--before"))) if option("--before") else {}
    jobs, before = [], []
    for part in report["exercises"]:
        for version, t in part["times"].items():
            jobs.append((part["exercise"], version, device))
            was = earlier.get(f"{part['exercise']} {version}", {"us": t["modelled_us"], "interval_us": t["modelled_interval_us"]})
            before.append((part["exercise"], version, t["measured_us"], was["us"], was["interval_us"]))
    if option("--from"): modelled = [json.load(open(option("--from")))[f"{j[0]} {j[1]}"] for j in jobs]
    else:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool: modelled = list(pool.map(model, jobs))
    if option("--json"):
        with open(option("--json"), "w") as f:
            json.dump({f"{j[0]} {j[1]}": m for j, m in zip(jobs, modelled)}, f, indent=1)
    now = [(b[0], b[1], b[2], m["us"], m["interval_us"], longest(m)) for b, m in zip(before, modelled)]
    for r in now:
        if r[3] <= 0: print("not modelled:", r[0], r[1], r[5], file=sys.stderr)
    now, before = [r for r in now if r[3] > 0], [r for r in before if r[3] > 0] # the model of a report may not have known all
    chapters = sorted({r[0].split("/")[0] for r in now})
    head = "| versions of | n | median error | 9 of 10 within | within 25 % | pairs > 10 % apart in order | inside the interval |\n|---|---|---|---|---|---|---|"
    print(head)
    print(summary(before, "all, before")), print(summary(now, "**all, now**"))
    for c in chapters:
        if any(r[0].startswith(c) for r in before): print(summary([r for r in before if r[0].startswith(c)], c + ", before"))
        print(summary([r for r in now if r[0].startswith(c)], c + ", now"))
    if "--rows" in sys.argv:
        old = {(b[0], b[1]): b[3] for b in before}
        print("\n| version | measured, us | before | now | bound by |\n|---|---|---|---|---|")
        for r in now:
            was = f"{100 * (old[r[0], r[1]] / r[2] - 1):+.0f} %" if (r[0], r[1]) in old else ""
            print(f"| {r[0]} {r[1] or 'model solution'} | {r[2]:.2f} | {was} | "
                  f"{100 * (r[3] / r[2] - 1):+.0f} % ({r[3]:.2f}) | {r[5]} |")

if __name__ == "__main__":
    main()
