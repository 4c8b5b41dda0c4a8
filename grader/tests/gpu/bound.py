#!/usr/bin/env python3
"""bound.py: compares what limits every kernel of the book at its timed size by Nsight Compute and by the time model.

    python3 grader/tests/gpu/bound.py --measure [NAME...] [--folder=DIR]   on a machine with a GPU, nvcc and ncu: DIR/ncu.tsv
    python3 grader/tests/gpu/bound.py --model=FILE                         writes bound-by.md from ncu.tsv and the modelled kernels of
                                                                           FILE (grader/tests/timing/measured.py --empty-caches --json=FILE)
    python3 grader/tests/gpu/bound.py --check                              tests the arithmetic on made-up output of ncu

DIR is docs/results/h100. --measure continues where it stopped: it skips exercises that ncu.tsv has, except the NAMEs; after
--seconds=420 it starts no further one. The programs are truth.py's, at the sizes of the column "timed" in exercises.def. ncu empties the caches
before each kernel, as the grader does before each call. Run from the top of the tree, after `make`."""
import collections, contextlib, csv, io, json, os, re, subprocess, sys, tempfile, time
import truth

FOLDER = "docs/results/h100"
RULE = 60 # per cent: ncu's own rule, below which nothing is busy and what remains is latency
TIE = 10  # points
PERCENT = ".avg.pct_of_peak_sustained_elapsed"
THROUGHPUTS = {"DRAM": "dram__throughput", "L2": "lts__throughput", "L1": "l1tex__throughput", "SM": "sm__throughput"}
# Asked for apart: a set that this ncu does not know is left out, and said.
SETS = {
    "time": ["gpu__time_duration.sum", "sm__warps_active.avg.pct_of_peak_sustained_active", "sm__cycles_elapsed.avg",
             "sm__cycles_active.avg", "smsp__inst_executed.sum", "launch__registers_per_thread"],
    "throughputs": [m + PERCENT for m in THROUGHPUTS.values()],
    "parts of SM": ["breakdown:sm__throughput" + PERCENT],
    "parts of L1": ["breakdown:l1tex__throughput" + PERCENT],
    "parts of L2": ["breakdown:lts__throughput" + PERCENT],
    "pipes": [f"sm__inst_executed_pipe_{p}{PERCENT}" for p in ("alu", "fma", "fp64", "lsu", "xu", "uniform")],
    "fma pipes": [f"sm__pipe_{p}_cycles_active{PERCENT}" for p in ("alu", "fma", "fmaheavy")],
    "issue": ["sm__issue_active" + PERCENT, "smsp__issue_active.avg.pct_of_peak_sustained_active"],
    "bytes": ["dram__bytes_read.sum", "dram__bytes_write.sum", "lts__t_sectors.sum", "l1tex__t_sectors.sum", "l1tex__data_pipe_lsu_wavefronts.sum",
              "lts__t_sector_hit_rate.pct", "l1tex__t_sector_hit_rate.pct"],
    "stalls": ["group:smsp__pcsamp_warp_stall_reasons"],
}
STALL = "smsp__pcsamp_warps_issue_stalled_"

# ---- on a GPU ----

def build(name):
    os.makedirs(truth.BUILT, exist_ok=True)
    source, program = f"{truth.BUILT}/{name}-timed.cu", f"{truth.BUILT}/{name}-timed"
    with open(source, "w") as f: f.write(truth.generate(name, timed=True))
    subprocess.run(["nvcc", *truth.architecture(name, ["-arch=native"]), "-O3", "-lineinfo", "-std=c++17", "-I.", f"-I{truth.HERE}", source, "-o", program], check=True)
    return program

def ncu(program, metrics, *more):
    command = ["ncu", "--csv", "--print-units", "base", "--print-kernel-base", "mangled", "--clock-control", "none", *more,
               "--metrics", ",".join(metrics), program]
    try: return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=150)
    except subprocess.TimeoutExpired as e: return subprocess.CompletedProcess(command, 137, (e.stdout or b"").decode(errors="replace"), "too slow")

def known(program):
    """All that is asked for; or, of the sets, those that this ncu knows, found out on one kernel."""
    every = [m for own in SETS.values() for m in own]
    run = ncu(program, every, "--launch-count", "1")
    if run.returncode == 0 and launches(run.stdout): return every
    metrics = []
    for what, own in SETS.items():
        run = ncu(program, own, "--launch-count", "1")
        if run.returncode == 0 and launches(run.stdout): metrics += own
        else: print(f"without {what}: {(run.stderr + run.stdout).strip()[-300:]}")
    return metrics

def launches(said):
    """[(mangled name, {metric: number})] of ncu's CSV, in which a line is a launch and a metric."""
    found = {}
    if '"ID"' not in said: return []
    for row in csv.DictReader(io.StringIO(said[said.index('"ID"'):])):
        try: launch, value = int(row["ID"]), float(row["Metric Value"].replace(",", ""))
        except (ValueError, TypeError, AttributeError): continue
        found.setdefault(launch, (row["Kernel Name"], {}))[1][row["Metric Name"]] = value
    return [found[k] for k in sorted(found)]

def short(metric): return metric.replace(PERCENT, "%").replace(".sum", "").replace(STALL, "stall_")

def rounded(value): return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"

def version_of(mangled):
    """(label, kernel) of _ZN<label><kernel>..."""
    names, at = [], 3
    while m := re.match(r"L?(\d+)", mangled[at:]):
        at += m.end() + int(m[1])
        names.append(mangled[at - int(m[1]):at])
    return (names[0], names[-1]) if mangled.startswith("_ZN") and len(names) > 1 else ("", mangled)

def read(path):
    """{(program, label, kernel, launch): {metric: number}}"""
    rows = {}
    if os.path.exists(path):
        for row in csv.DictReader((l for l in open(path) if not l.startswith("#")), delimiter="\t"):
            key = tuple(row.pop(k) for k in ("program", "version", "kernel", "launch"))
            rows[key] = {k: float(v) for k, v in row.items() if v}
    return rows

def write(path, rows):
    columns = list(dict.fromkeys(metric for row in rows.values() for metric, value in row.items() if value)) # some are 0 in all
    with open(path + ".new", "w") as f:
        f.write("\t".join(["program", "version", "kernel", "launch"] + columns) + "\n")
        for key, row in rows.items():
            f.write("\t".join(list(key) + [rounded(row[c]) if c in row else "" for c in columns]) + "\n")
    os.replace(path + ".new", path)

def table_of(name, found):
    rows, seen = {}, collections.Counter()
    for mangled, metrics in found:
        label, kernel = version_of(mangled)
        seen[label, kernel] += 1
        rows[name, label, kernel, str(seen[label, kernel])] = {short(m): v for m, v in metrics.items()}
    return rows

def measure(names, path, seconds):
    begun, rows, bad, metrics = time.monotonic(), read(path), 0, None
    todo = names or [n for n in truth.exercises() if n not in {key[0] for key in rows}]
    with truth.concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        built = {n: pool.submit(build, n) for n in todo}
        for name in todo:
            if time.monotonic() - begun > seconds: return print(f"{name} and what follows: no time left") or 1
            try: program = built[name].result()
            except subprocess.CalledProcessError as e:
                bad = print(f"{name}: {e}") or 1
                continue
            metrics = metrics or known(program)
            run = ncu(program, metrics)
            found = table_of(name, launches(run.stdout))
            if run.returncode: print(f"{name}: ncu ends with {run.returncode}: {(run.stderr + run.stdout).strip()[-300:]}")
            bad |= bool(run.returncode)
            rows = {key: row for key, row in rows.items() if key[0] != name} | found
            write(path, rows)
            print(f"{name}: {len(found)} launches, {time.monotonic() - begun:.0f} s", flush=True)
    return bad

# ---- the comparison ----

CLASSES = {"DRAM bandwidth": "DRAM", "L2 bandwidth": "L2", "atomics on one address": "atomics", "atomics in one L2 slice": "atomics",
           "L1 wavefronts": "L1", "shared memory wavefronts": "L1", "LSU pipe": "L1", "issue slots": "SM", "ALU pipe": "SM",
           "FMA pipe": "SM", "FP64 pipe": "SM", "XU pipe": "SM", "tensor pipe": "SM"}

def modelled(text):
    """{part: per cent} of what the model prints: "A, 70 % (next: B, 40 %; C, 2 %)"."""
    return {part: float(share) for part, share in re.findall(r"(?:^|: |; )([^,;:(]+), (\d+) %", text)}

def model_class(text):
    parts = modelled(text)
    return CLASSES.get(next(iter(parts), ""), "latency")

def model_highest(text):
    return next((CLASSES[p] for p in modelled(text) if p in CLASSES), "none")

FABRIC = "lts__ltcfabric2ltc_cycles_active%"

def throughputs(row):
    """By unit. What of SM's own throughput is the entrance to L1 belongs to that. Cycles in which something crosses the link between L2's halves are
    no share of a bandwidth: particles' warm launches move twice as much in their time as the link would carry at 100 %."""
    own = {unit: row.get(metric + "%", 0) for unit, metric in THROUGHPUTS.items()}
    if fabric_sets_l2(row): own["L2"] = max([v for k, v in row.items() if k.startswith("lts__") and k.endswith("%") and k not in (FABRIC, "lts__throughput%")], default=own["L2"])
    parts = {k: v for k, v in row.items() if k.startswith(("sm__", "idc__")) and k.endswith("%") and k != "sm__throughput%"}
    if re.search("lsu|mio", max(parts, key=parts.get, default="")): own["L1"], own["SM"] = max(own["L1"], own["SM"]), 0
    return own

def measured_highest(row):
    own = throughputs(row)
    unit = max(own, key=own.get)
    return unit, own[unit]

def highest(row):
    """All units that are about as busy as the busiest."""
    own = throughputs(row)
    return {unit for unit in own if own[unit] >= max(own.values()) - TIE}

def together(rows):
    """Launches of one kernel as one: times add up, percentages are weighted with them."""
    seconds = sum(r["gpu__time_duration"] for r in rows)
    keys = dict.fromkeys(k for r in rows for k in r)
    mean = {k: sum(r.get(k, 0) * r["gpu__time_duration"] for r in rows) / seconds for k in keys}
    return mean | {"gpu__time_duration": seconds}

def stalls(row, most=2):
    reasons = {k[6:]: v for k, v in row.items() if k.startswith("stall_") and not k.endswith(("_not_issued", "stall_selected"))}
    total = sum(reasons.values())
    best = sorted(reasons, key=reasons.get, reverse=True)[:most]
    return ", ".join(f"{k.replace('_', ' ')} {100 * reasons[k] / total:.0f} %" for k in best) if total else ""

def label_of(version):
    return "s" + version.split("-")[0] if version else "model"

def compare(ncu_rows, models):
    """[(exercise, version, kernel, share of the version's time, ncu's row, the model's text)] of kernels that both have."""
    out = []
    for key, m in models.items():
        exercise, version = key.split(" ", 1)
        own = collections.defaultdict(list)
        for (program, label, kernel, _), row in ncu_rows.items():
            if program == exercise.split("/")[1] and label == label_of(version): own[kernel].append(row)
        total = sum(r["gpu__time_duration"] for rows in own.values() for r in rows)
        for k in m["kernels"]:
            name = re.sub(r"<.*|\(.*", "", k["name"]).split("::")[-1].split(" ")[-1]
            if name in own and k["bound_by"]:
                row = together(own[name])
                out.append((exercise, version, name, row["gpu__time_duration"] / total, row, k["bound_by"]))
    return out

def verdict(row):
    unit, percent = measured_highest(row)
    return unit if percent >= RULE else "latency"

def agrees(row, text):
    """An atomic on one address keeps one slice of L2 busy, which ncu's averages over slices do not show: latency, there."""
    said = model_class(text)
    if verdict(row) == "latency": return said in ("latency", "atomics")
    return said in highest(row)

def fabric_sets_l2(row):
    """True if ncu's throughput of L2 is that of the link between its halves."""
    return row.get(FABRIC, 0) >= row.get("lts__throughput%", 0) > 0

def disagreements(rows):
    """Lines of a table: how often ncu names one limit and the model another, the most frequent first."""
    kinds = collections.Counter()
    for row, text in rows:
        said, share = model_class(text), next(iter(modelled(text).values()), 0)
        if verdict(row) == "latency": said += f", below {RULE} % of the time" if share < RULE else f", {RULE} % of the time or more"
        kinds[verdict(row), said] += 1
    return [f"| {kind[0]} | {kind[1]} | {n} |" for kind, n in kinds.most_common()]

def page(rows, folder):
    main = [r for r in rows if r[3] >= 0.1]
    same, busiest = (lambda r: agrees(r[4], r[5])), (lambda r: model_highest(r[5]) in highest(r[4]))
    count = lambda test: f"{sum(map(test, main))} of {len(main)} ({100 * sum(map(test, main)) / max(1, len(main)):.0f} %)"
    out = ["# What limits each kernel: Nsight Compute and the time model", "",
           f"`python3 grader/tests/gpu/bound.py --model=FILE --folder={folder}` writes this page from `{folder}/ncu.tsv` (`--measure`: every",
           "kernel at its timed size under ncu, with empty caches) and from the model's limits of the same kernels, modelled from PTX with",
           "empty caches, too.", "",
           f"ncu's limit is the unit with the highest throughput in per cent of its peak; if none reaches {RULE} %, it is latency (ncu's rule).",
           "L1 is the SM's load/store path, with shared memory; SM is issue and arithmetic. Of L2's throughput, the cycles in which something",
           "crosses the link between its halves are left out: they are no share of a bandwidth, since warm launches of `particles` move twice",
           f"as much as that would carry. Units within {TIE} points of the highest also count as the limit. Atomics on one address keep one slice of L2",
           "busy; ncu averages over the slices and shows latency. The model names its limit by ncu's rule.", "",
           f"Of the kernels that take a tenth or more of their version's time, both name the same limit for {count(same)}. The model's busiest",
           f"unit is ncu's, or within {TIE} points of it, for {count(busiest)}. Where they differ:", "",
           "| ncu: limit | model: limit | kernels |", "|---|---|---|",
           *disagreements([r[4:] for r in main if not same(r)]), "",
           "| version | kernel | time | DRAM | L2 | L1 | SM | ncu: limit | stalls | model: bound by | same |", "|" + "---|" * 11]
    for exercise, version, kernel, share, row, text in rows:
        cells = [f"{v:.0f}" for v in throughputs(row).values()]
        verdicts = "yes" if agrees(row, text) else "busiest" if model_highest(text) in highest(row) else "**no**"
        out.append(f"| {exercise} {version or 'model solution'} | `{kernel}` | {100 * share:.0f} % | {' | '.join(cells)} | {verdict(row)} | "
                   f"{stalls(row)} | {text.replace('|', '/')} | {verdicts} |")
    return "\n".join(out + [""])

# ---- the arithmetic, by hand ----

def sample():
    lines = ['==PROF== Profiling "x": 0%', '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"']
    def launch(n, kernel, **values):
        for metric, value in values.items(): lines.append(f'"{n}","{kernel}","{metric}","x","{value}"')
    busy = lambda **v: {THROUGHPUTS[k] + PERCENT: x for k, x in v.items()}
    launch(0, "_ZN2s13addEPfS_", **{"gpu__time_duration.sum": "1,000"}, **busy(DRAM="90.5", L2="40", L1="30", SM="20"))
    launch(1, "_ZN2s13addEPfS_", **{"gpu__time_duration.sum": "3,000"}, **busy(DRAM="70.5", L2="40", L1="30", SM="20"))
    launch(2, "_ZN5modelL4tileILi8EEEvPf", **{"gpu__time_duration.sum": "2000", "breakdown:x": "sm__a,sm__b"}, **busy(DRAM="10", L2="12", L1="58", SM="59"),
           **{"sm__inst_executed_pipe_lsu" + PERCENT: "59", STALL + "long_scoreboard": "30", STALL + "wait": "10", STALL + "selected": "99"})
    return "\n".join(lines) + "\n"

def fake(folder):
    """An ncu that does not know a breakdown, and an nvcc; to be found before the real ones."""
    with open(f"{folder}/said", "w") as f: f.write(sample())
    for tool, text in ("ncu", f'case "$*" in *breakdown*) echo "no such metric" >&2; exit 1;; esac; cat {folder}/said'), ("nvcc", "exit 0"):
        with open(f"{folder}/{tool}", "w") as f: f.write(f"#!/bin/sh\n{text}\n")
        os.chmod(f"{folder}/{tool}", 0o755)

def measured_by_a_fake():
    """The rows that --measure leaves of one exercise, also when it is asked again and has no time."""
    path = os.environ["PATH"]
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        fake(folder)
        os.environ["PATH"] = folder + ":" + path
        measure(["vector_add"], f"{folder}/ncu.tsv", 60)
        measure([], f"{folder}/ncu.tsv", -1)
        os.environ["PATH"] = path
        return read(f"{folder}/ncu.tsv")

def self_test():
    kept = measured_by_a_fake()
    if len(kept) != 3 or kept["vector_add", "s1", "add", "2"]["dram__throughput%"] != 70.5: return print(f"kept of ncu's output: {kept}") or 1
    models = {"00/x 1-add": {"kernels": [{"name": "add", "bound_by": "DRAM bandwidth, 81 % (next: L2 bandwidth, 30 %; latency of L2, 3 %)"}]},
              "00/x ": {"kernels": [{"name": "tile<8>", "bound_by": "latency of DRAM, 55 % (next: shared memory wavefronts, 45 %; L2 bandwidth, 3 %)"}]}}
    rows = compare(table_of("x", launches(sample())), models)
    said = [(r[2], round(r[3], 2), verdict(r[4]), measured_highest(r[4]), model_class(r[5]), model_highest(r[5]), agrees(r[4], r[5]),
             stalls(r[4])) for r in rows]
    wanted = [("add", 1.0, "DRAM", ("DRAM", 75.5), "DRAM", "DRAM", True, ""),
              ("tile", 1.0, "latency", ("L1", 59.0), "latency", "L1", True, "long scoreboard 75 %, wait 25 %")]
    tied = {"dram__throughput%": 72, "lts__throughput%": 80, "sm__throughput%": 69}
    said.append([agrees(tied, f"{part}, 90 % (next: FMA pipe, 40 %; L1 wavefronts, 3 %)") for part in ("DRAM bandwidth", "L2 bandwidth", "FMA pipe")])
    wanted.append([True, True, False])
    linked = {"lts__throughput%": 81, FABRIC: 81, "lts__t_sectors%": 40, "dram__throughput%": 67}
    said.append([agrees(linked, f"{part}, 90 % (next: FMA pipe, 40 %; L1 wavefronts, 3 %)") for part in ("L2 bandwidth", "DRAM bandwidth")])
    wanted.append([False, True])
    said.append(disagreements([(linked, "L2 bandwidth, 92 %"), ({"lts__throughput%": 59}, "L2 bandwidth, 58 %"), (linked, "L2 bandwidth, 70 %")]))
    wanted.append(["| DRAM | L2 | 2 |", "| latency | L2, below 60 % of the time | 1 |"])
    for got, want in zip(said + [None] * len(wanted), wanted):
        if got != want: return print(f"{got}\nis not\n{want}") or 1
    for name, row in truth.exercises().items():
        text = truth.generate(name, timed=True)
        if any(f"const int {s};" not in text for s in row[3].split()) or 'version("sk"' not in text.splitlines()[-2]:
            return print(f"{name}: its program is not at the timed size, or the starter file does not come last") or 1
    return 0

def option(name, default):
    return next((a[len(name) + 1:] for a in sys.argv[1:] if a.startswith(name + "=")), default)

def main():
    folder = option("--folder", FOLDER)
    path = f"{folder}/ncu.tsv"
    if "--check" in sys.argv: return self_test()
    if "--measure" in sys.argv:
        os.makedirs(folder, exist_ok=True)
        return measure([a for a in sys.argv[1:] if not a.startswith("--")], path, float(option("--seconds", "420")))
    if not option("--model", ""): return print(__doc__) or 2
    with open(f"{folder}/bound-by.md", "w") as f: f.write(page(compare(read(path), json.load(open(option("--model", "")))), folder))

if __name__ == "__main__":
    sys.exit(main())
