#!/usr/bin/env python3
"""planted.py BUILD [--students N]: whether `grader similar` puts planted copies first. A class of 300 hands in matmul_tiled; each
student has a way of their own to write indices, guards, loops, loads and launches, drawn at random. Three of them hand in a copy of
another's file, with new names and layout, functions in another order, or statements put in. An earlier year's class has 300 others,
and a folder has 40 public solutions under names of their own; two students copy from each. Fails unless the seven pairs come first."""
import argparse, csv, os, random, re, shutil, sqlite3, subprocess, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from copies import renamed, reordered, padded

EXERCISE = "03-tiling/matmul_tiled"


class Style:
    """One student's way to write CUDA: for each kind of phrase a habit, which the student mostly follows."""

    def __init__(self, rng):
        self.rng, self.habits = rng, {}

    def pick(self, kind, forms):
        draw = lambda: self.rng.choices(range(len(forms)), [1 / (1 + i) for i in range(len(forms))])[0]  # some forms are popular
        habit = self.habits.setdefault(kind, draw())
        return forms[habit if self.rng.random() < 0.9 else draw()]

    def at(self, p, row, col, width):
        return self.pick("at", [f"{p}[{row} * {width} + {col}]", f"{p}[{col} + {row} * {width}]", f"{p}[(size_t)({row}) * {width} + {col}]",
                                f"*({p} + {row} * {width} + {col})", f"{p}[{width} * {row} + {col}]", f"({p} + {row} * {width})[{col}]",
                                f"{p}[static_cast<size_t>({row}) * {width} + ({col})]", f"__ldg(&{p}[{row} * {width} + {col}])",
                                f"{p}[INDEX({row}, {col}, {width})]", f"{p}[(unsigned long)({width}) * ({row}) + {col}]"])

    def less(self, x, y):
        return self.pick("less", [f"{x} < {y}", f"{y} > {x}", f"{x} <= {y} - 1", f"!({x} >= {y})", f"({x} < {y})", f"({y}) - ({x}) > 0"])

    def both(self, x, y):
        return self.pick("both", [f"{x} && {y}", f"{y} && {x}", f"({x}) && ({y})", f"({x}) & ({y})", f"!(!({x}) || !({y}))"])

    def choose(self, target, condition, value, other):
        return self.pick("choose", [f"{target} = {condition} ? {value} : {other};", f"if ({condition}) {target} = {value}; else {target} = {other};",
                                    f"{target} = {other}; if ({condition}) {target} = {value};",
                                    f"if ({condition}) {{ {target} = {value}; }} else {{ {target} = {other}; }}",
                                    f"{{ float tmp = {other}; if ({condition}) tmp = {value}; {target} = tmp; }}",
                                    f"if (!({condition})) {target} = {other}; else {target} = {value};"])

    def loop(self, i, start, end, step, body):
        return self.pick("loop", [f"for (int {i} = {start}; {i} < {end}; {i} += {step}) {{ {body} }}",
                                  f"int {i} = {start}; while ({i} < {end}) {{ {body} {i} += {step}; }}",
                                  f"for (int {i} = {start}; {i} < {end}; {i} = {i} + {step}) {{ {body} }}",
                                  f"for (unsigned {i} = {start}; {i} < (unsigned)({end}); {i} += {step}) {{ {body} }}",
                                  f"#pragma unroll 4\nfor (int {i} = {start}; {i} < {end}; {i} += {step}) {{ {body} }}",
                                  f"int {i} = {start}; do {{ if ({i} >= {end}) break; {body} {i} += {step}; }} while (true);",
                                  f"for (auto {i} = {start}; {end} > {i}; {i} += {step}) {{ {body} }}"])

    def ceil(self, x, y):
        return self.pick("ceil", [f"({x} + {y} - 1) / {y}", f"({x} - 1) / {y} + 1", f"{x} / {y} + ({x} % {y} != 0)", f"(int)ceil((double){x} / {y})",
                                  f"{x} / {y} + ({x} % {y} ? 1 : 0)", f"CEIL_DIV({x}, {y})", f"({y} - 1 + {x}) / {y}"])

    def mad(self, sum_, x, y):
        return self.pick("mad", [f"{sum_} += {x} * {y};", f"{sum_} = {sum_} + {x} * {y};", f"{sum_} = fmaf({x}, {y}, {sum_});",
                                 f"{sum_} = __fmaf_rn({x}, {y}, {sum_});", f"{{ float p = {x}; float q = {y}; {sum_} += p * q; }}",
                                 f"{sum_} -= -{x} * {y};"])


def program(rng):
    """Returns a source of matmul_tiled in a style drawn at random."""
    s = Style(rng)
    width = rng.choice([1, 1, 2, 4])  # elements of a thread, one below the other
    names = s.pick("declare", ["const int r = {r}; const int q = {q};", "int q = {q}, r = {r};", "const unsigned q = {q}; const unsigned r = {r};",
                               "int r; int q; r = {r}; q = {q};", "auto r = {r}; auto q = {q};", "int2 p = make_int2({q}, {r}); int q = p.x, r = p.y;"])
    place = lambda d: s.pick("place", [f"blockIdx.{d} * T + threadIdx.{d}", f"threadIdx.{d} + T * blockIdx.{d}", f"(blockIdx.{d} * blockDim.{d}) + threadIdx.{d}",
                                       f"int(blockIdx.{d}) * T + int(threadIdx.{d})", f"__umul24(blockIdx.{d}, T) + threadIdx.{d}"])
    shared = s.pick("shared", ["__shared__ float A[T][T]; __shared__ float B[T][T];", "__shared__ float A[T][T], B[T][T];", "__shared__ float A[T][T + 1], B[T][T + 1];",
                               "__shared__ float S[2][T][T]; float (*A)[T] = S[0]; float (*B)[T] = S[1];", "__shared__ __align__(16) float A[T][T]; __shared__ __align__(16) float B[T][T];",
                               "__shared__ struct { float a[T][T]; float b[T][T]; } S; auto &A = S.a; auto &B = S.b;"])
    local = s.pick("local", ["int x = threadIdx.x; int y = threadIdx.y;", "const int x = threadIdx.x, y = threadIdx.y;", "unsigned y = threadIdx.y, x = threadIdx.x;",
                             "int lane = threadIdx.y * T + threadIdx.x; int x = lane % T; int y = lane / T;", "uint3 me = threadIdx; int x = me.x, y = me.y;"])
    load = [s.choose("A[y][x]", s.both(s.less("r", "n"), s.less("t + x", "k")), s.at("a", "r", "(t + x)", "k"), "0"),
            s.choose("B[y][x]", s.both(s.less("t + y", "k"), s.less("q", "m")), s.at("b", "(t + y)", "q", "m"), "0")]
    rng.shuffle(load)
    inner = s.loop("l", "0", "T", "1", s.mad("sum", "A[y][l]", "B[l][x]"))
    if width > 1:
        inner = s.loop("l", "0", "T", str(width), " ".join(s.mad("sum", f"A[y][l + {u}]", f"B[l + {u}][x]") for u in range(width)))
    outer = s.loop("t", "0", "k", "T", " ".join(load) + " __syncthreads(); " + inner + " __syncthreads();")
    store = s.pick("store", ["if ({c}) {e} = sum;", "if (!({c})) return; {e} = sum;", "if ({c}) {{ {e} = sum; }}", "bool inside = {c}; if (inside) {e} = sum;",
                             "if ({c}) {{ float *out = &{e}; *out = sum; }}"]).format(
        c=s.both(s.less("r", "n"), s.less("q", "m")), e=s.at("c", "r", "q", "m").replace("__ldg(&", "*(&"))
    pointers = s.pick("pointers", ["float *c, const float *a, const float *b, int n, int k, int m", "const float *a, const float *b, float *c, int n, int k, int m",
                                   "const float *__restrict__ a, const float *__restrict__ b, int n, int k, int m, float *__restrict__ c",
                                   "int n, int k, int m, const float *a, const float *b, float *c", "float *c, float const *a, float const *b, int n, int m, int k"])
    arguments = ", ".join(re.findall(r"(\w+)(?:,|$)", pointers))
    launch = s.pick("launch", ["dim3 grid({x}, {y}); dim3 block(T, T); kernel<<<grid, block>>>({a});", "kernel<<<dim3({x}, {y}), dim3(T, T)>>>({a});",
                               "dim3 block(T, T, 1); dim3 grid; grid.x = {x}; grid.y = {y}; grid.z = 1; kernel<<<grid, block, 0>>>({a});",
                               "const dim3 block = dim3(T, T); const int columns = {x}; const int rows = {y}; kernel<<<dim3(columns, rows), block>>>({a});",
                               "int gx = {x}; int gy = {y}; dim3 grid(gx, gy), block(T, T); kernel<<<grid, block, 0, 0>>>({a});"]).format(
        x=s.ceil("m", "T"), y=s.ceil("n", "T"), a=arguments)
    guard = s.pick("guard", ["if (n == 0 || m == 0) return;", "if (!n || !m) return;", "if (n < 1) return; if (m < 1) return;", "if ((long)n * m == 0) return;", "if (n > 0 && m > 0) {"])
    size = s.pick("size", ["#define T 16\n", "constexpr int T = 32;\n", "static const int T = 16;\n", "enum { T = 32 };\n", "const unsigned T = 32;\n"])
    zero = s.pick("zero", ["float sum = 0;", "float sum = {};", "float sum; sum = 0;", "auto sum = 0.0f;", "register float sum = 0;", "float sum(0);"])
    end = " }" if guard.endswith("{") else ""
    return (f"{size}\n__global__ void kernel({pointers}) {{\n  {shared}\n  {local}\n  " + names.format(r=place("y"), q=place("x")) +
            f"\n  {zero}\n  {outer}\n  {store}\n}}\n\nextern \"C\" void matmul_tiled(float *c, const float *a, const float *b, int n, int k, int m) {{\n  {guard}\n  {launch}{end}\n}}\n")


def lines(text):
    """A line for each statement, so that the copies can put lines in."""
    return re.sub(r"(?<=[;{}]) +", "\n  ", text)


def fail(text):
    sys.exit(f"planted: {text}")


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path, "w").write(text)


def plant(work, students, rng):
    """Writes the class, the earlier year and the public folder; returns the planted pairs."""
    draw = lambda n: [lines(program(rng)) for _ in range(n)]
    now, earlier, public = draw(students), draw(students), draw(40)
    planted, who = set(), rng.sample(range(students), 10)
    for change, copy, of in zip((renamed, reordered, padded), who[:3], who[3:6]):
        now[copy] = change(now[of], rng)
        planted.add(tuple(sorted((f"s{copy:03d}", f"s{of:03d}"))))
    for change, copy, of in zip((renamed, padded), who[6:8], rng.sample(range(students), 2)):
        now[copy] = change(earlier[of], rng)
        planted.add((f"s{copy:03d}", f"{work}/earlier.db: s{of:03d}"))
    for change, copy, of in zip((renamed, reordered), who[8:10], rng.sample(range(40), 2)):
        now[copy] = change(public[of], rng)
        planted.add((f"s{copy:03d}", f"{work}/public: repo{of}/src/gemm_v{of}.cu"))
    for i in range(students):
        write(f"{work}/now/s{i:03d}/matmul_tiled.cu", now[i])
        write(f"{work}/earlier/s{i:03d}/matmul_tiled.cu", earlier[i])
    for i in range(40):
        write(f"{work}/public/repo{i}/src/gemm_v{i}.cu", public[i])
    return planted


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("--students", type=int, default=300)
    p.add_argument("--seeds", type=int, default=3)
    o = p.parse_args()
    build = os.path.abspath(o.build)
    for seed in range(o.seeds):
        work = f"{build}/tests/planted"
        shutil.rmtree(work, ignore_errors=True)
        planted = plant(work, o.students, random.Random(seed))
        grader = [f"{build}/grader"]
        subprocess.run(grader + ["intake", f"{work}/earlier", "--exercise", EXERCISE, "--store", f"{work}/earlier.db"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(grader + ["similar", f"{work}/now", "--exercise", EXERCISE, "--against", f"{work}/earlier.db", "--against", f"{work}/public",
                                 "--output", f"{work}/pages"], check=True, stdout=subprocess.DEVNULL)
        rows = list(csv.DictReader(open(f"{work}/pages/pairs.csv")))
        found = [(r["first"], r["second"]) for r in rows]
        ranks = sorted(found.index(pair) + 1 if pair in found else 0 for pair in planted)
        rest = [float(r["share"]) for r in rows if (r["first"], r["second"]) not in planted]
        print(f"seed {seed}: {len(planted)} planted pairs at ranks {ranks} of {len(rows)} listed; shares {[float(r['share']) for r in rows[:7]]}; "
              f"the next pair: {max(rest, default=0)}", flush=True)
        if ranks != list(range(1, len(planted) + 1)):
            fail(f"the planted pairs don't come first; missing: {sorted(pair for pair in planted if pair not in found)}")


main()
