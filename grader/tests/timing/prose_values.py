"""What a figure in a text may be made of: numbers, and names of what was measured, modelled, counted, or is known of a device.

    h100 sgemm/3                  µs of step 3 of `sgemm` on that GPU (docs/results/h100/report.json); also sgemm/solution, sgemm/cublasSgemm,
                                  "h100 compact/in practice"
    sim:h100 sgemm/3              µs as modelled: the table of times in the exercise's ladder
    count sgemm/3[global_load_threads]   the ladder's table of counters
    h100 async[stages ring of 3]  a row of docs/results/h100/async.tsv by the cells before its first figure, and that figure; with a second
                                  bracket another column: h100 variants[memcpy of 134 MB][GB/s]
    h100 micro[empty-1x32]        likewise, of grader/tests/timing/micro-h100.tsv; h100 copies[both ways], of copies-h100.tsv;
                                  h200 peers[copy 0 to 1 4096], of peers-h200.tsv
    h100 ncu[sgemm/7][METRIC]     of the version's longest kernel, as Nsight Compute read it (ncu.tsv); [stall: barrier]: per cent of the samples
    h100 peak[bytes_per_second]   what a copy, and a kernel of multiply-adds (flops_per_second), reached there: report.json
    h100 bound[08-constant-memory/convolution 1-global][SM]     a cell of docs/results/h100/bound-by.md, by its version
    t4 device[dram_rate]          a figure of grader/sim/devices.def, by its name in device.c and in the units of the table
    ran compact/1[shared_read_requests_total]   what `build/grader run` says of that version, kept in docs/results/counted.tsv (prose_counts.py says what there is)
    here[together][barriers]      a cell of a table of the same page, by the first cell of its row and the head of its column

A value that was measured or modelled is not exact: it comes with True.
"""

import csv
import functools
import glob
import json
import re

from lessons import modelled, reports, stalled
from prose_counts import kept

NAME = re.compile(
    r"(?P<sim>sim:)?(?P<device>h100|h200|a100|t4|mx330) (?P<exercise>\w+)/(?P<version>in practice|[\w:-]+)"
    r"|ran (?P<ran>\w+)/(?P<by>[\w-]+)\[(?P<what>[^]]+)\]"
    r"|(?P<gpu>\w+) (?P<file>\w+)\[(?P<row>[^]]+)\](?:\[(?P<column>[^]]+)\])?"
    r"|count (?P<counted>\w+)/(?P<step>[\w-]+)\[(?P<counter>\w+)\]"
    r"|here\[(?P<here>[^]]+)\]\[(?P<head>[^]]+)\]"
)
FUNCTIONS = {"min": min, "max": max, "floor": lambda x: x // 1}
measured = functools.cache(reports)


class Unknown(Exception):
    pass


def number(text):
    """"2 097 152", "2²⁰", "1/12", "4.8 · 10¹²"; None for what is no number."""
    if " · " in text:
        mantissa, _, power = text.partition(" · ")
        return float(mantissa) * number(power)
    raised = text.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789"))
    base = re.match(r"[\d. /]*", text).group()
    if raised != text:
        return float(base) ** float(raised[len(base) :])
    try:
        top, _, bottom = text.replace(" ", "").partition("/")
        return float(top) / float(bottom or 1)
    except ValueError:
        return None


def cells(line):
    return [c.strip() for c in line.strip().strip("|").split("|")]


def tables(text):
    """Each table of a page: its head, and its rows, as cells."""
    for block in re.findall(r"(?:^\|.*\n)+", text + "\n", flags=re.M):
        head, *rows = [cells(line) for line in block.strip().split("\n")]
        yield head, rows[1:]


def in_table(text, row, column, where):
    for head, rows in tables(text):
        names = [h.replace("`", "") for h in head]
        for r in rows:
            if column in names and row in (r[0], *re.findall(r"`([^`]+)`", r[0])):
                return float(r[names.index(column)].replace(" ", ""))
    raise Unknown(f"no {row}, {column} in {where}")


def step_of(versions, step, what):
    """The one version that is called so, or begins so: 3 for 3-tile32."""
    found = [v for v in versions if v == step] or [v for v in versions if v.startswith(step + "-")]
    if len(found) != 1:
        raise Unknown(f"{what} has no {step}: {sorted(versions)}")
    return found[0]


@functools.cache
def ladder(exercise):
    paths = glob.glob(f"solutions/*/{exercise}-ladder.md")
    if not paths:
        raise Unknown(f"no exercise {exercise}")
    with open(paths[0]) as f:
        return f.read()


def time_of(sim, device, exercise, version):
    if sim:
        ladder(exercise)
        times = modelled(exercise, device)
        return float(times[step_of(times, version, f"{device} {exercise}")].replace(" ", ""))
    times = {v: us for (x, v), us in measured().get(device.upper(), {}).items() if x == exercise}
    return times[step_of(times, version, f"{device} {exercise}")]


def counted(exercise, step, counter):
    head = next((h for h, _ in tables(ladder(exercise)) if h[0] == "counter"), [])
    return in_table(ladder(exercise), counter, step_of(head, step, exercise), f"{exercise}'s ladder")


def of_rows(rows, row, column, path):
    """The figure of the row that begins so; without `column` the first that is one."""
    head = rows[0]
    for r in rows[1:] if column or number(head[-1]) is None else rows:
        first = next((i for i, c in enumerate(r) if i and number(c) is not None and " ".join(r[:i]) == row), None)
        if first:
            return float(r[head.index(column) if column else first])
    raise Unknown(f"{path}: no row {row}")


@functools.cache
def read_rows(path):
    try:
        with open(path) as f:
            return list(csv.reader(f, delimiter="\t"))
    except FileNotFoundError:
        raise Unknown(f"no {path}") from None


@functools.cache
def devices():
    """{device: {figure: value}}; the figures' names are those of device.c, in the order of the table."""
    with open("grader/sim/device.c") as f:
        names = re.findall(r"^    SPEC\((\w+),", f.read(), flags=re.M)
    with open("grader/sim/devices.def") as f:
        rows = re.findall(r'^DEVICE\("(\w+)", "[^"]*", "\w+", \d+, \d+,\s*([^)]*)\)', f.read(), flags=re.M)
    return {name: dict(zip(names, map(float, row.split(",")))) for name, row in rows}


def of_ncu(gpu, row, metric):
    exercise, _, version = row.partition("/")
    if metric.startswith("stall: "):
        return float(stalled(exercise, version, gpu, metric[len("stall: ") :]))
    label = "model" if version == "solution" else "s" + version.split("-")[0]
    head, *rows = read_rows(f"docs/results/{gpu}/ncu.tsv")
    mine = [dict(zip(head, r)) for r in rows if r[:2] == [exercise, label]]
    if not mine or metric not in head:
        raise Unknown(f"ncu.tsv: no {row}, {metric}")
    return float(max(mine, key=lambda r: float(r["gpu__time_duration"]))[metric])


def of_file(gpu, file, row, column):
    """Its value, and whether it was measured."""
    if file == "bound":
        with open(f"docs/results/{gpu}/bound-by.md") as f:
            return in_table(f.read(), row, column, f"{gpu}/bound-by.md"), True
    if file == "device":
        if row not in devices().get(gpu, {}):
            raise Unknown(f"no {row} of {gpu}")
        return devices()[gpu][row], False
    if file == "peak":
        with open(f"docs/results/{gpu}/report.json") as f:
            return json.load(f)["device"]["roofline"][row], True
    if file == "ncu":
        return of_ncu(gpu, row, column), True
    path = f"grader/tests/timing/{file}-{gpu}.tsv" if file in ("micro", "copies", "peers") else f"docs/results/{gpu}/{file}.tsv"
    return of_rows(read_rows(path), row, column, path), True


@functools.cache
def ran(exercise, version, what):
    figures = kept()
    if (exercise, version, what) not in figures:
        raise Unknown(f"docs/results/counted.tsv has no {exercise}, {version}, {what}: python3 grader/tests/timing/prose_counts.py --missing")
    return figures[exercise, version, what]


def value_of(name, page):
    """Value of a match of NAME, and whether it was measured or modelled."""
    n = name.groupdict()
    if n["exercise"]:
        return time_of(n["sim"], n["device"], n["exercise"], n["version"]), True
    if n["ran"]:
        return ran(n["ran"], n["by"], n["what"]), n["what"].startswith("us ")
    if n["counted"]:
        return counted(n["counted"], n["step"], n["counter"]), False
    if n["here"]:
        return in_table(page, n["here"], n["head"], "this page"), False
    return of_file(n["gpu"], n["file"], n["row"], n["column"])


def evaluate(expression, page):
    """Value of an expression, and whether anything in it was measured or modelled."""
    rough = []

    def put(name):
        value, was_measured = value_of(name, page)
        rough.append(was_measured)
        return repr(value)

    plain = NAME.sub(put, expression)
    if not re.fullmatch(r"(?:[\d.e+\-*/%(), ]|min|max|floor)+", plain):
        raise Unknown(f"what is {expression}?")
    try:
        return float(eval(plain, {"__builtins__": {}}, FUNCTIONS)), any(rough)
    except (SyntaxError, TypeError, ZeroDivisionError):
        raise Unknown(f"what is {expression}?") from None
