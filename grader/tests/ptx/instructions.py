#!/usr/bin/env python3
"""instructions.py — writes instructions.txt: operands and results for each instruction, for test_insn.c.

Run by hand (python3 instructions.py > instructions.txt) when the table gains a row. The results come from exact
arithmetic on integers and fractions, written from the PTX manual's text, not from the simulator's source; what no
arithmetic gives (the special values of approximate functions, for one) stands in `BY_HAND`; lg2 of 0.5 there is what an
H100 gives (grader/tests/mufu).

Format of the output: a line "opcode types > types" (b 8, h 16, r 32, q 64 bits, p predicate; #text an immediate operand
as it is written), then one indented line a case, operands and results in hexadecimal; "nan" is any NaN. The carry flag
stands last among operands and results of instructions that take or give it.
"""
import random
from fractions import Fraction as Q
from math import isqrt

random.seed(1)
out = []
WIDTH = {'u8': 8, 's8': 8, 'u16': 16, 's16': 16, 'u32': 32, 's32': 32, 'u64': 64, 's64': 64, 'b16': 16, 'b32': 32, 'b64': 64,
         'f16': 16, 'bf16': 16, 'f32': 32, 'f64': 64, 'pred': 1}
LETTER = {1: 'p', 8: 'b', 16: 'h', 32: 'r', 64: 'q'}

def wrap(v, t): return v & ((1 << WIDTH[t]) - 1)
def signed(v, bits): v &= (1 << bits) - 1; return v - (1 << bits) if v >> (bits - 1) else v
def value(v, t): return signed(v, WIDTH[t]) if t[0] == 's' else v

def emit(opcode, types, results, cases, text=()):
    """cases: tuples of operands followed by results"""
    letters = [t if t.startswith('#') else LETTER[WIDTH[t]] for t in types]
    out.append(f"{opcode} {' '.join(letters)} > {' '.join(LETTER[WIDTH[t]] for t in results)}")
    seen = set()
    for c in cases:
        if c in seen: continue
        seen.add(c)
        out.append(' ' + ' '.join(v if isinstance(v, str) else f'{v:x}' for v in c))

# ---- operand values ----

def ints(t):
    n = WIDTH[t]; top = 1 << (n - 1)
    return [0, 1, (1 << n) - 1, top, top - 1, top + 1, random.getrandbits(n), random.getrandbits(n), random.getrandbits(n // 2)]

def pairs(t, u=None, n=9):
    a, b = ints(t), ints(u or t)
    fixed = [(a[3], b[2]), (a[2], b[2]), (a[4], b[1]), (a[0], b[0]), (a[3], b[1]), (a[6], b[0]), (a[3], b[3])]
    return fixed[:n - 3] + [(random.choice(a), random.choice(b)) for _ in range(3)]

def triples(t, u=None, w=None, n=9): return [(x, y, random.choice(ints(w or t))) for x, y in pairs(t, u, n)]

def integer(opcode, types, result, f, cases):
    emit(opcode, types, [result], [tuple(c) + (wrap(f(*[value(v, t) for v, t in zip(c, types)]), result),) for c in cases])

# ---- floating point, exactly ----

FORMATS = {'f16': (11, 15), 'bf16': (8, 127), 'f32': (24, 127), 'f64': (53, 1023), 'tf32': (11, 127)}
CANON = {'f16': 0x7fff, 'bf16': 0x7fff, 'f32': 0x7fffffff, 'f64': 'nan'}
NAN, INF = 'NaN', 'inf'

def expbits(t): return WIDTH[t] - FORMATS[t][0]

def decode(v, t):
    """(sign, Fraction | 'inf' | 'NaN')"""
    p, bias = FORMATS[t]
    sign, e, m = v >> (WIDTH[t] - 1), v >> (p - 1) & ((1 << expbits(t)) - 1), v & ((1 << (p - 1)) - 1)
    if e == (1 << expbits(t)) - 1: return (sign, NAN if m else INF)
    if e == 0: return (sign, Q(m) * Q(2) ** (1 - bias - p + 1))
    return (sign, Q(m + (1 << (p - 1))) * Q(2) ** (e - bias - p + 1))

def encode(sign, x, t, mode='rn', keep=None):
    """x >= 0. keep: significant bits to keep, where fewer than the format has (tf32)."""
    p, bias = FORMATS[t]
    k = keep or p
    s = sign << (WIDTH[t] - 1)
    if x == NAN: return CANON[t]
    if x == INF: return s | (((1 << expbits(t)) - 1) << (p - 1))
    if x == 0: return s
    e = x.numerator.bit_length() - x.denominator.bit_length()
    if Q(2) ** e > x: e -= 1
    if Q(2) ** (e + 1) <= x: e += 1
    e = max(e, 1 - bias)
    ulp = Q(2) ** (e - k + 1)
    n = x / ulp
    low = n.numerator // n.denominator
    rest = n - low
    up = {'rn': rest > Q(1, 2) or (rest == Q(1, 2) and low & 1), 'rz': False, 'rm': rest > 0 and sign, 'rp': rest > 0 and not sign,
          'rna': rest >= Q(1, 2)}[mode]
    low += up
    y = low * ulp
    if y >= Q(2) ** (bias + 1):
        big = mode in ('rn', 'rna') or (mode == 'rp' and not sign) or (mode == 'rm' and sign)
        most = (Q(2) - Q(2) ** (1 - p)) * Q(2) ** bias
        return encode(sign, INF, t) if big else encode(sign, most, t, 'rz')
    if y < Q(2) ** (1 - bias): return s | int(y / Q(2) ** (1 - bias - p + 1))
    while Q(2) ** (e + 1) <= y: e += 1
    m = int(y / Q(2) ** (e - p + 1))
    return s | ((e + bias) << (p - 1)) | (m - (1 << (p - 1)))

def flush(v, t):
    p, _ = FORMATS[t]
    return v if v == 'nan' or v >> (p - 1) & ((1 << expbits(t)) - 1) else v & (1 << (WIDTH[t] - 1))

def exact_sum(a, b, mode):
    """of (sign, value) pairs: (sign, magnitude)"""
    if NAN in (a[1], b[1]): return (0, NAN)
    if a[1] == INF and b[1] == INF: return a if a[0] == b[0] else (0, NAN)
    if a[1] == INF: return a
    if b[1] == INF: return b
    x = (-a[1] if a[0] else a[1]) + (-b[1] if b[0] else b[1])
    if x == 0: return (a[0] if a[0] == b[0] and a[1] == 0 and b[1] == 0 else int(mode == 'rm'), Q(0))
    return (int(x < 0), abs(x))

def exact_product(a, b):
    if NAN in (a[1], b[1]): return (0, NAN)
    sign = a[0] ^ b[0]
    if INF in (a[1], b[1]): return (0, NAN) if 0 in (a[1], b[1]) else (sign, INF)
    return (sign, a[1] * b[1])

def exact_quotient(a, b):
    if NAN in (a[1], b[1]): return (0, NAN)
    sign = a[0] ^ b[0]
    if a[1] == INF: return (0, NAN) if b[1] == INF else (sign, INF)
    if b[1] == INF: return (sign, Q(0))
    if b[1] == 0: return (0, NAN) if a[1] == 0 else (sign, INF)
    return (sign, a[1] / b[1])

def root(a, t, mode):
    if a[1] == NAN or (a[0] and a[1] != 0): return CANON[t]
    if a[1] in (INF, 0): return encode(a[0], a[1], t)
    n, d = a[1].numerator, a[1].denominator # enough bits for correct rounding, the rest made sticky
    shift = 1200
    r = isqrt((n << (2 * shift)) // d)
    return encode(0, Q(2 * r + (r * r * d != n << (2 * shift)), 2 << shift), t, mode)

def arithmetic(op, t, mode, *v):
    x = [decode(a, t) for a in v]
    if op == 'add': return encode(*exact_sum(x[0], x[1], mode), t, mode)
    if op == 'sub': return encode(*exact_sum(x[0], (x[1][0] ^ 1, x[1][1]), mode), t, mode)
    if op == 'mul': return encode(*exact_product(x[0], x[1]), t, mode)
    if op == 'div': return encode(*exact_quotient(x[0], x[1]), t, mode)
    if op == 'rcp': return encode(*exact_quotient((0, Q(1)), x[0]), t, mode)
    if op == 'fma': return encode(*exact_sum(exact_product(x[0], x[1]), x[2], mode), t, mode)
    if op == 'sqrt': return root(x[0], t, mode)

def unit(v, t):
    s, x = decode(v, t) if v != 'nan' else (0, NAN)
    if x == NAN or s: return 0
    return encode(0, Q(1), t) if x == INF or x > 1 else v
def relu(v, t): return v if v == CANON[t] else 0 if v >> (WIDTH[t] - 1) else v

def floats(t, more=0):
    p, bias = FORMATS[t]; w = WIDTH[t]; inf = encode(0, INF, t)
    one = encode(0, Q(1), t)
    v = [0, 1 << (w - 1), one, one | 1 << (w - 1), inf, inf | 1 << (w - 1), inf | 1 << (p - 2), 1, inf - 1, 1 << (p - 1), (1 << (p - 1)) - 1 | 1 << (w - 1),
         one + 1, encode(0, Q(3, 2), t), encode(1, Q(1, 3), t), encode(0, Q(7), t)]
    for _ in range(3 + more):
        e = random.randrange(bias - p, bias + p)
        v.append(random.getrandbits(1) << (w - 1) | e << (p - 1) | random.getrandbits(p - 1))
    return v

def fpairs(t):
    v = floats(t); z, nz, one, mone, inf, minf, nan, tiny, most, least, msub, nxt, a, b, c, r0, r1, r2 = v
    return [(z, nz), (nz, nz), (one, mone), (inf, minf), (inf, z), (z, z), (nan, one), (one, nan), (tiny, most), (most, most), (tiny, a), (least, msub),
            (one, tiny), (nxt, b), (c, b), (r0, r1), (r1, r2), (msub, a), (one, r0)]

def float_op(op, t, mode='rn', ftz=False, sat=False, name=None, arity=2, after=lambda v, t: v, more=True):
    def run(*v):
        if ftz: v = [flush(x, t) for x in v]
        r = arithmetic(op, t, mode, *v)
        if ftz: r = flush(r, t)
        if sat: r = unit(r, t)
        return after(r, t)
    ps = fpairs(t) if more else random.sample(fpairs(t), 9)
    v = floats(t)
    cases = ps if arity == 2 else [(x,) for x in v] if arity == 1 else [(x, y, random.choice(v)) for x, y in ps]
    emit(name, [t] * arity, [t], [c + (run(*c),) for c in cases])

# ---- the families ----

def integers():
    for t in ['u16', 's16', 'u32', 's32', 'u64', 's64']:
        n = WIDTH[t]
        integer(f'add.{t}', [t, t], t, lambda a, b: a + b, pairs(t))
        integer(f'sub.{t}', [t, t], t, lambda a, b: a - b, pairs(t))
        integer(f'mul.lo.{t}', [t, t], t, lambda a, b: a * b, pairs(t))
        integer(f'mul.hi.{t}', [t, t], t, lambda a, b: a * b >> n, pairs(t))
        integer(f'mad.lo.{t}', [t, t, t], t, lambda a, b, c: a * b + c, triples(t))
        integer(f'mad.hi.{t}', [t, t, t], t, lambda a, b, c: (a * b >> n) + c, triples(t))
        integer(f'sad.{t}', [t, t, t], t, lambda a, b, c: abs(a - b) + c, triples(t))
        integer(f'min.{t}', [t, t], t, min, pairs(t))
        integer(f'max.{t}', [t, t], t, max, pairs(t))
        def div(a, b): return -1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        integer(f'div.{t}', [t, t], t, div, pairs(t))
        integer(f'rem.{t}', [t, t], t, lambda a, b: a if b == 0 else a - b * div(a, b), pairs(t))
        if t[0] == 's':
            integer(f'abs.{t}', [t], t, abs, [(v,) for v in ints(t)])
            integer(f'neg.{t}', [t], t, lambda a: -a, [(v,) for v in ints(t)])
        if n < 64:
            w = t[0] + str(2 * n)
            integer(f'mul.wide.{t}', [t, t], w, lambda a, b: a * b, pairs(t))
            integer(f'mad.wide.{t}', [t, t, w], w, lambda a, b, c: a * b + c, triples(t, t, w))
    def clamp(v): return max(-2**31, min(2**31 - 1, v))
    integer('add.sat.s32', ['s32', 's32'], 's32', lambda a, b: clamp(a + b), pairs('s32'))
    integer('sub.sat.s32', ['s32', 's32'], 's32', lambda a, b: clamp(a - b), pairs('s32') + [(0x7fffffff, 0xffffffff)])
    integer('mad.hi.sat.s32', ['s32'] * 3, 's32', lambda a, b, c: clamp((a * b >> 32) + c), triples('s32') + [(0x80000000, 0x80000000, 0x7fffffff)])
    for t in ['u32', 's32']:
        def low24(v): return signed(v, 24) if t == 's32' else v & 0xffffff
        integer(f'mul24.lo.{t}', [t, t], t, lambda a, b: low24(a) * low24(b), pairs(t))
        integer(f'mul24.hi.{t}', [t, t], t, lambda a, b: low24(a) * low24(b) >> 16, pairs(t))
        integer(f'mad24.lo.{t}', [t] * 3, t, lambda a, b, c: low24(a) * low24(b) + c, triples(t))
        integer(f'mad24.hi.{t}', [t] * 3, t, lambda a, b, c: (low24(a) * low24(b) >> 16) + c, triples(t))
    integer('mad24.hi.sat.s32', ['s32'] * 3, 's32', lambda a, b, c: clamp((signed(a, 24) * signed(b, 24) >> 16) + c),
            triples('s32') + [(0x7fffff, 0x7fffff, 0x7fffffff), (0x800000, 0x7fffff, 0x80000000)])
    def parts(v, n, sign): return [signed(v >> (n * k), n) if sign else v >> (n * k) & ((1 << n) - 1) for k in range(32 // n)]
    for ta in ['u32', 's32']:
        for tb in ['u32', 's32']:
            def dot(pick):
                def f(a, b, c): return c + sum(x * y for x, y in pick(a & 0xffffffff, b & 0xffffffff))
                return f
            sa, sb = ta == 's32', tb == 's32'
            cs = triples('u32')
            integer(f'dp4a.{ta}.{tb}', [ta, tb, 'u32'], 'u32', dot(lambda a, b: zip(parts(a, 8, sa), parts(b, 8, sb))), cs)
            integer(f'dp2a.lo.{ta}.{tb}', [ta, tb, 'u32'], 'u32', dot(lambda a, b: zip(parts(a, 16, sa), parts(b, 8, sb)[:2])), cs)
            integer(f'dp2a.hi.{ta}.{tb}', [ta, tb, 'u32'], 'u32', dot(lambda a, b: zip(parts(a, 16, sa), parts(b, 8, sb)[2:])), cs)
    for t in ['u16', 's16']:
        s = t == 's16'
        def pair(f): return lambda a, b: sum((f(x, y) & 0xffff) << (16 * k) for k, (x, y) in enumerate(zip(parts(a, 16, s), parts(b, 16, s))))
        cs = pairs('u32') + [(0x80007fff, 0x00017fff), (0x7fff8000, 0xffff0001)]
        integer(f'add.{t}x2', ['u32', 'u32'], 'u32', pair(lambda x, y: x + y), cs)
        integer(f'min.{t}x2', ['u32', 'u32'], 'u32', pair(min), cs)
        integer(f'max.{t}x2', ['u32', 'u32'], 'u32', pair(max), cs)
        if s:
            integer('min.s16x2.relu', ['u32', 'u32'], 'u32', pair(lambda x, y: max(0, min(x, y))), cs)
            integer('max.relu.s16x2', ['u32', 'u32'], 'u32', pair(lambda x, y: max(0, x, y)), cs)
    integer('min.s32.relu', ['s32', 's32'], 's32', lambda a, b: max(0, min(a, b)), pairs('s32') + [(5, 9), (0xfffffff0, 7)])
    integer('max.relu.s32', ['s32', 's32'], 's32', lambda a, b: max(0, a, b), pairs('s32') + [(0xfffffff0, 0xfffffff1)])

def carries():
    for t in ['u32', 's32', 'u64', 's64']:
        n = WIDTH[t]; u = 'u' + str(n); m = 1 << n
        def chain(name, f, operands, takes, gives):
            """the flag is a carry for sums; for differences it is 1 where nothing was borrowed, as nvcc's own code expects"""
            rows = []
            for c in (pairs(u) if operands == 2 else triples(u)):
                for k in ([0, 1] if takes else [0]):
                    total = f(*c, k)
                    rows.append(c + ((k,) if takes else ()) + (total % m,) + ((int(total >= (0 if name.startswith('sub') else m)),) if gives else ()))
            emit(name + '.' + t, [u] * operands + (['pred'] if takes else []), [u] + (['pred'] if gives else []), rows[:12])
        def product(a, b, hi):
            v = value(a, t) * value(b, t)
            return (v >> n if hi else v) % m
        for c, takes, gives in [('add.cc', 0, 1), ('addc', 1, 0), ('addc.cc', 1, 1)]:
            chain(c, lambda a, b, k: a + b + k, 2, takes, gives)
        for c, takes, gives in [('sub.cc', 0, 1), ('subc', 1, 0), ('subc.cc', 1, 1)]:
            chain(c, lambda a, b, k: a - b - (1 - k if takes else 0), 2, takes, gives)
        for half in ['lo', 'hi']:
            for c, takes, gives in [('mad.%s.cc', 0, 1), ('madc.%s', 1, 0), ('madc.%s.cc', 1, 1)]:
                chain(c % half, lambda a, b, cc, k: product(a, b, half == 'hi') + cc + k, 3, takes, gives)

def bits():
    for n in [32, 64]:
        b = f'b{n}'
        def string(a): return format(a, f'0{n}b')
        one = [(v,) for v in ints(b) + [1 << k for k in (3, 15, 16, n - 2)]]
        integer(f'popc.{b}', [b], 'u32', lambda a: string(a).count('1'), one)
        integer(f'clz.{b}', [b], 'u32', lambda a: (string(a) + '1').index('1'), one)
        integer(f'brev.{b}', [b], b, lambda a: int(string(a)[::-1], 2), one)
        for s in 'us':
            t = f'{s}{n}'
            def find(a):
                x = format(~a if a < 0 else a, 'b')
                return len(x) - 1 if x != '0' else -1
            integer(f'bfind.{t}', [t], 'u32', find, one)
            integer(f'bfind.shiftamt.{t}', [t], 'u32', lambda a: -1 if find(a) < 0 else n - 1 - find(a), one)
            def extract(a, pos, length): # the manual's pseudo-code, bit by bit
                pos, length, a = pos & 255, length & 255, a % (1 << n)
                sign = 0 if s == 'u' or length == 0 else a >> min(pos + length - 1, n - 1) & 1
                return sum((a >> (pos + i) & 1 if i < length and pos + i <= n - 1 else sign) << i for i in range(n))
            fields = [(0, 0), (0, 8), (4, 8), (n - 8, 8), (n - 4, 8), (0, n), (n, 1), (255, 255), (3, 256 + 5), (n - 1, 1), (1, n - 1), (n + 5, 3), (0, 255)]
            integer(f'bfe.{t}', [t, 'u32', 'u32'], t, extract, [(random.choice(ints(t)[2:]), p, l) for p, l in fields] + [(ints(t)[6], 4, 9)])
        def insert(a, b_, pos, length):
            pos, length = pos & 255, length & 255
            r = b_
            for i in range(length):
                if pos + i <= n - 1: r = r & ~(1 << (pos + i)) | (a >> i & 1 if i < n else 0) << (pos + i)
            return r
        integer(f'bfi.{b}', [b, b, 'u32', 'u32'], b, insert,
                [(random.getrandbits(n), random.getrandbits(n), p, l) for p, l in [(0, 0), (0, 8), (n // 2, n // 2), (n - 4, 8), (n, 4), (0, n), (0, 255), (256 + 3, 5), (n - 1, 1), (255, 3)]])
    def mask(clamp):
        def f(a, b):
            if clamp: return sum(1 << i for i in range(32) if a <= i < a + b)
            a, b = a & 31, b & 31
            return sum(1 << i for i in range(32) if a <= i < a + b)
        return f
    places = [(0, 0), (0, 32), (0, 31), (5, 7), (31, 1), (31, 5), (32, 1), (33, 1), (4, 40), (0xffffffff, 3), (16, 16)]
    integer('bmsk.clamp.b32', ['u32', 'u32'], 'u32', mask(True), places)
    integer('bmsk.wrap.b32', ['u32', 'u32'], 'u32', mask(False), places)
    for t in ['u32', 's32']:
        def extend(clamp):
            def f(a, b):
                a %= 1 << 32
                if clamp and b >= 32: return a
                b &= 31
                low = a % (1 << b)
                return low - (1 << b) if t == 's32' and b and low >> (b - 1) else low
            return f
        widths = [(0x87654321, b) for b in (0, 1, 4, 6, 8, 31, 32, 40, 0xffffffff)] + [(0x80, 8), (0x7f, 8), (0xffff8000, 16)]
        integer(f'szext.clamp.{t}', ['u32', 'u32'], 'u32', extend(True), widths)
        integer(f'szext.wrap.{t}', ['u32', 'u32'], 'u32', extend(False), widths)
    def nth(m, base, n):
        at = [i for i in range(32) if m >> i & 1]
        if n == 0: return base if base in at else -1
        at = [i for i in at if i >= base] if n > 0 else [i for i in reversed(at) if i <= base]
        return at[abs(n) - 1] if len(at) >= abs(n) else -1
    integer('fns.b32', ['u32', 'u32', 's32'], 'u32', nth, [(0xaaaaaaaa, b, n % 2**32) for b, n in [(3, 0), (4, 0), (0, 1), (0, 16), (0, 17), (31, -1), (31, -16), (31, -17), (10, 2), (10, -2)]])
    for table in [0x80, 0xfe, 0x96, 0xe8, 0x1b, 0xca, 0x00]:
        emit('lop3.b32', ['u32'] * 3 + [f'#{table}'], ['u32'],
             [(a, b, c, sum((table >> (4 * (a >> i & 1) + 2 * (b >> i & 1) + (c >> i & 1)) & 1) << i for i in range(32)))
              for a, b, c in [(0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa), (0x12345678, 0x9abcdef0, 0x0fedcba9), (0, 0xffffffff, 0xffff0000)]])
    for side in 'lr':
        for mode in ['wrap', 'clamp']:
            def shift(a, b, c):
                n = c & 31 if mode == 'wrap' else min(c, 32)
                return (b << n | a >> (32 - n)) if side == 'l' else (b << (32 - n) | a >> n)
            integer(f'shf.{side}.{mode}.b32', ['u32'] * 3, 'u32', shift, [(0x89abcdef, 0x01234567, c) for c in (0, 1, 4, 31, 32, 33, 63, 64, 0xffffffff)])
    def permute(a, b, c):
        bytes_ = [(b << 32 | a) >> 8 * k & 255 for k in range(8)]
        pick = [c >> 4 * k & 15 for k in range(4)]
        return sum((bytes_[s & 7] if s < 8 else 255 * (bytes_[s & 7] >> 7)) << 8 * k for k, s in enumerate(pick))
    a, b = 0x83828180, 0x07060504
    integer('prmt.b32', ['u32'] * 3, 'u32', permute, [(a, b, c) for c in (0x3210, 0x7654, 0x5410, 0x0123, 0xba98, 0xffff, 0xfedc3210, 0x8421)])
    tables = { # PTX ISA, "prmt": bytes 3 2 1 0 of the result, for c mod 4 = 0 1 2 3
        'f4e': ['3210', '4321', '5432', '6543'], 'b4e': ['5670', '6701', '7012', '0123'], 'rc8': ['0000', '1111', '2222', '3333'],
        'ecl': ['3210', '3211', '3222', '3333'], 'ecr': ['0000', '1110', '2210', '3210'], 'rc16': ['1010', '3232', '1010', '3232']}
    for mode, rows in tables.items():
        integer(f'prmt.b32.{mode}', ['u32'] * 3, 'u32', lambda a, b, c: permute(a, b, int(rows[c & 3], 16)), [(a, b, c) for c in (0, 1, 2, 3, 0xfffffff6)])

def logic():
    for n in [16, 32, 64]:
        b = f'b{n}'
        for name, f in [('and', lambda x, y: x & y), ('or', lambda x, y: x | y), ('xor', lambda x, y: x ^ y)]:
            integer(f'{name}.{b}', [b, b], b, f, pairs(b)[4:])
        integer(f'not.{b}', [b], b, lambda x: ~x, [(v,) for v in ints(b)[:7]])
        integer(f'cnot.{b}', [b], b, lambda x: int(x == 0), [(v,) for v in ints(b)[:4]])
        amounts = [0, 1, n - 1, n, n + 1, 31, 32, 33, 63, 64, 65, 255, 0xffffffff]
        v = [ints(b)[k] for k in (3, 6, 2)]
        integer(f'shl.{b}', [b, 'u32'], b, lambda x, k: x << k if k < n else 0, [(random.choice(v), k) for k in amounts])
        for t in [b, f'u{n}', f's{n}']:
            integer(f'shr.{t}', [t, 'u32'], t, lambda x, k: x >> min(k, n), [(random.choice(v), k) for k in amounts])
    for name, f in [('and', lambda x, y: x & y), ('or', lambda x, y: x | y), ('xor', lambda x, y: x ^ y)]:
        emit(f'{name}.pred', ['pred', 'pred'], ['pred'], [(x, y, f(x, y)) for x in (0, 1) for y in (0, 1)])
    emit('not.pred', ['pred'], ['pred'], [(0, 1), (1, 0)])
    emit('mov.pred', ['pred'], ['pred'], [(0, 0), (1, 1)])

ORDERED = {'eq': lambda a, b: a == b, 'ne': lambda a, b: a != b, 'lt': lambda a, b: a < b, 'le': lambda a, b: a <= b,
           'gt': lambda a, b: a > b, 'ge': lambda a, b: a >= b}
def number(v, t):
    s, x = decode(v, t)
    return None if x == NAN else (Q(10) ** 400 if x == INF else x) * (-1 if s else 1)
def fcompare(op, a, b, t, ftz=False):
    x, y = [number(flush(v, t) if ftz else v, t) for v in (a, b)]
    if op == 'num': return int(x is not None and y is not None)
    if op == 'nan': return int(x is None or y is None)
    unordered = op[-1] == 'u' and len(op) == 3
    if x is None or y is None: return int(unordered)
    return int(ORDERED[op[:2]](x, y))
FLOAT_COMPARISONS = list(ORDERED) + [c + 'u' for c in ORDERED] + ['num', 'nan']

def comparisons():
    def some(t): a = ints(t); return [(a[0], a[0]), (a[3], a[4]), (a[4], a[3]), (a[2], a[0]), (a[6], a[7]), (a[1], a[2])]
    for n in [16, 32, 64]:
        for s in 'bus':
            t = f'{s}{n}'
            for op in (['eq', 'ne'] if s == 'b' else ORDERED):
                emit(f'setp.{op}.{t}', [t, t], ['pred', 'pred'], [(a, b, int(r), int(not r)) for a, b in some(t) for r in [ORDERED[op](value(a, t), value(b, t))]])
        for op, same in [('lo', 'lt'), ('ls', 'le'), ('hi', 'gt'), ('hs', 'ge')]:
            emit(f'setp.{op}.u{n}', [f'u{n}'] * 2, ['pred'], [(a, b, int(ORDERED[same](a, b))) for a, b in some(f'u{n}')])
    for how, f in [('and', lambda p, c: p & c), ('or', lambda p, c: p | c), ('xor', lambda p, c: p ^ c)]:
        emit(f'setp.lt.{how}.s32', ['s32', 's32', 'pred'], ['pred', 'pred'],
             [(a, b, c, f(r, c), f(1 - r, c)) for a, b in [(0xffffffff, 1), (1, 0xffffffff)] for c in (0, 1) for r in [int(signed(a, 32) < signed(b, 32))]])
        emit(f'setp.gtu.{how}.ftz.f32', ['f32', 'f32', 'pred'], ['pred', 'pred'],
             [(a, b, c, f(r, c), f(1 - r, c)) for a, b in [(1, 0), (0x3f800000, 0), (0x7fc00000, 0)] for c in (0, 1) for r in [fcompare('gtu', a, b, 'f32', True)]])
    for t in ['f32', 'f64', 'f16', 'bf16']:
        for ftz in [0, 1] if t in ('f32', 'f16') else [0]:
            cs = [(a, b) for k, (a, b) in enumerate(fpairs(t)) if k in (0, 2, 3, 6, 7, 8, 9, 13)] + [(floats(t)[7], 0), (floats(t)[2], floats(t)[2])]
            for op in FLOAT_COMPARISONS:
                emit(f"setp.{op}{'.ftz' if ftz else ''}.{t}", [t, t], ['pred', 'pred'], [(a, b, r, 1 - r) for a, b in cs for r in [fcompare(op, a, b, t, ftz)]])
                if WIDTH[t] == 16:
                    wide = [(a | b << 16, b | a << 16, fcompare(op, a, b, t, ftz), fcompare(op, b, a, t, ftz)) for a, b in cs]
                    emit(f"setp.{op}{'.ftz' if ftz else ''}.{t}x2", ['u32', 'u32'], ['pred', 'pred'], wide)
    for t in ['b16', 'u16', 's16', 'b32', 'u32', 's32', 'f32', 'b64', 'u64', 's64', 'f64']:
        n = WIDTH[t]; a, b = random.getrandbits(n), random.getrandbits(n)
        emit(f'selp.{t}', [t, t, 'pred'], [t], [(a, b, 1, a), (a, b, 0, b)])
        emit(f'slct.{t}.s32', [t, t, 's32'], [t], [(a, b, 0, a), (a, b, 0x80000000, b), (a, b, 0xffffffff, b), (a, b, 5, a)])
        emit(f'slct.{t}.f32', [t, t, 'f32'], [t], [(a, b, 0, a), (a, b, 0x80000000, a), (a, b, 0x7fc00000, b), (a, b, 0xbf800000, b), (a, b, 0x80000001, b), (a, b, 0x7f800000, a)])
    emit('slct.ftz.f32.f32', ['f32', 'f32', 'f32'], ['f32'], [(7, 9, 0x80000001, 7), (7, 9, 0xbf800000, 9)])
    for t in ['f32', 'f64']:
        p = FORMATS[t][0]; least = 1 << (p - 1)
        for what, f in [('finite', lambda x, m: x not in (NAN, INF)), ('infinite', lambda x, m: x == INF), ('number', lambda x, m: x != NAN),
                        ('notanumber', lambda x, m: x == NAN), ('normal', lambda x, m: x not in (NAN, INF) and m >= least),
                        ('subnormal', lambda x, m: x not in (NAN, INF) and 0 < m < least)]:
            emit(f'testp.{what}.{t}', [t], ['pred'], [(v, int(f(decode(v, t)[1], v & ((1 << (WIDTH[t] - 1)) - 1)))) for v in floats(t)[:11]])
    for d, yes in [('u32', 0xffffffff), ('s32', 0xffffffff), ('f32', 0x3f800000)]:
        emit(f'set.lt.{d}.s32', ['s32', 's32'], [d], [(0xffffffff, 1, yes), (1, 0xffffffff, 0), (1, 1, 0)])
        emit(f'set.gt.and.{d}.f32', ['f32', 'f32', 'pred'], [d], [(0x3f800000, 0, 1, yes), (0x3f800000, 0, 0, 0), (0, 0, 1, 0)])
    emit('set.ge.ftz.u32.f32', ['f32', 'f32'], ['u32'], [(0x80000001, 0, 0xffffffff), (0xbf800000, 0, 0)])
    emit('set.eq.f16.f16', ['f16', 'f16'], ['f16'], [(0x3c00, 0x3c00, 0x3c00), (0x3c00, 0x3c01, 0), (0x8000, 0, 0x3c00)])
    emit('set.ltu.f16x2.f16x2', ['u32', 'u32'], ['u32'], [(0x3c000000, 0x40003c00, 0x3c003c00), (0x40003c00, 0x3c003c00, 0), (0x7e003c00, 0x3c003c00, 0x3c000000)])
    emit('set.le.u16.bf16', ['bf16', 'bf16'], ['u16'], [(0x3f80, 0x3f80, 0xffff), (0x4000, 0x3f80, 0)])

def extreme(op, a, b, t, nan=False, xors=False, ftz=False):
    if ftz: a, b = flush(a, t), flush(b, t)
    top = 1 << (WIDTH[t] - 1)
    sign = (a ^ b) & top
    if xors: a, b = a & ~top, b & ~top
    x, y = decode(a, t), decode(b, t)
    if x[1] == NAN or y[1] == NAN:
        if nan or x[1] == y[1]: return CANON[t]
        r = b if x[1] == NAN else a
    else:
        key = lambda v: ((Q(10) ** 400 if v[1] == INF else v[1]) * (-1 if v[0] else 1), -v[0])
        r = a if (key(x) < key(y)) == (op == 'min') or x == y else b
    return (r & ~top) | sign if xors else r

def minmax():
    for t in ['f32', 'f64', 'f16', 'bf16']:
        v = floats(t)
        cs = fpairs(t) + [(v[6], v[6]), (v[1], v[0]), (v[5], v[4]), (v[7], v[0])]
        for op in ['min', 'max']:
            for ftz in [0, 1] if t in ('f32', 'f16') else [0]:
                for nan in [0, 1] if t != 'f64' else [0]:
                    for xors in [0, 1] if t != 'f64' else [0]:
                        name = f"{op}{'.ftz' if ftz else ''}{'.NaN' if nan else ''}{'.xorsign.abs' if xors else ''}.{t}"
                        run = [(a, b, extreme(op, a, b, t, nan, xors, ftz)) for a, b in cs]
                        emit(name, [t, t], [t], run)
                        if WIDTH[t] == 16: emit(name + 'x2', ['u32', 'u32'], ['u32'], twice(run[::2]))

def twice(cases):
    """pairs of cases side by side in one register each"""
    return [tuple(x | y << 16 for x, y in zip(c, d)) for c, d in zip(cases, cases[1:] + cases[:1])]

def arithmetic_rows():
    for t, modes in [('f32', ['rn', 'rz', 'rm', 'rp']), ('f64', ['rn', 'rz', 'rm', 'rp'])]:
        for op, arity in [('add', 2), ('sub', 2), ('mul', 2), ('fma', 3), ('div', 2), ('rcp', 1), ('sqrt', 1)]:
            for m in modes:
                float_op(op, t, m, name=f'{op}.{m}.{t}', arity=arity, more=m == 'rn')
            if t == 'f32':
                float_op(op, t, 'rn', True, name=f'{op}.rn.ftz.f32', arity=arity, more=False)
                if op in ('add', 'sub', 'mul', 'fma'):
                    float_op(op, t, 'rn', False, True, name=f'{op}.rn.sat.f32', arity=arity, more=False)
                    float_op(op, t, 'rz', True, True, name=f'{op}.rz.ftz.sat.f32', arity=arity, more=False)
            if op in ('add', 'sub', 'mul'): float_op(op, t, name=f'{op}.{t}', arity=arity, more=False)
    for t in ['f32', 'f64']:
        top = 1 << (WIDTH[t] - 1)
        v = floats(t)
        emit(f'neg.{t}', [t], [t], [(a, a ^ top) for a in v if decode(a, t)[1] != NAN])
        emit(f'abs.{t}', [t], [t], [(a, a & ~top) for a in v if decode(a, t)[1] != NAN])
        emit(f'copysign.{t}', [t, t], [t], [(a, b, b & ~top | a & top) for a, b in fpairs(t)[:8]])
    emit('neg.ftz.f32', ['f32'], ['f32'], [(1, 0x80000000), (0x80000001, 0), (0x3f800000, 0xbf800000)])
    emit('abs.ftz.f32', ['f32'], ['f32'], [(0x80000001, 0), (0xbf800000, 0x3f800000)])
    minmax()
    for t in ['f16', 'bf16']:
        for op, arity in [('add', 2), ('sub', 2), ('mul', 2), ('fma', 3)]:
            for ftz in [0, 1] if t == 'f16' else [0]:
                for after in ['', '.sat', '.relu']:
                    if after == '.sat' and t == 'bf16' or after == '.relu' and op != 'fma': continue
                    def run(*c):
                        if ftz: c = [flush(x, t) for x in c]
                        r = arithmetic(op, t, 'rn', *c)
                        if ftz: r = flush(r, t)
                        return unit(r, t) if after == '.sat' else relu(r, t) if after == '.relu' else r
                    rounding = '.rn' if op == 'fma' or after == '' and not ftz else ''
                    v = floats(t, 12)
                    ps = fpairs(t) + [(random.choice(v), random.choice(v)) for _ in range(8)]
                    cs = ps if arity == 2 else [(a, b, random.choice(v)) for a, b in ps]
                    if op == 'fma' and t == 'f16': # halfway cases that a sum in f64, or two roundings, get wrong
                        cs += [(0x3c01, 0x3c01, 0x0001), (0x3c01, 0x3c01, 0x8001), (0x7800, 0x7800, 0x8001), (0x4001, 0x3fff, 0x0001), (0x0001, 0x0001, 0x3c00)]
                    if op == 'fma' and t == 'bf16':
                        cs += [(0x3f81, 0x3f81, 0x0001), (0x3f81, 0x3f81, 0x8001), (0x0001, 0x0001, 0x3f80), (0x3f84, 0x3f84, 0x8001)]
                    name = f"{op}{rounding}{'.ftz' if ftz else ''}{after}.{t}"
                    rows = [c + (run(*c),) for c in cs]
                    emit(name, [t] * arity, [t], rows)
                    emit(name + 'x2', ['u32'] * arity, ['u32'], twice(rows[::3]))
        v = [a for a in floats(t) if decode(a, t)[1] != NAN]
        for ftz in [0, 1] if t == 'f16' else [0]:
            for op, f in [('neg', lambda a: a ^ 0x8000), ('abs', lambda a: a & 0x7fff)]:
                rows = [(a, f(flush(a, t) if ftz else a)) for a in v]
                emit(f"{op}{'.ftz' if ftz else ''}.{t}", [t], [t], rows)
                emit(f"{op}{'.ftz' if ftz else ''}.{t}x2", ['u32'], ['u32'], twice(rows[:6]))

def to_integer(v, t, d, how):
    """PTX ISA "cvt": rounded, clamped; NaN gives 0, where operand or result has 64 bits the highest bit alone."""
    s, x = decode(v, t)
    n = WIDTH[d]; low, high = (-(1 << (n - 1)), (1 << (n - 1)) - 1) if d[0] == 's' else (0, (1 << n) - 1)
    if x == NAN: return wrap(0 if n < 64 and t != 'f64' else 1 << (n - 1), d)
    if x == INF: return wrap(low if s else high, d)
    y = -x if s else x
    f = y.numerator // y.denominator
    r = y - f
    k = {'rmi': f, 'rpi': f + (r > 0), 'rzi': f + (r > 0 and y < 0), 'rni': f + (r > Q(1, 2) or (r == Q(1, 2) and f & 1))}[how]
    return wrap(max(low, min(high, k)), d)

def to_whole(v, t, how):
    s, x = decode(v, t)
    if x in (NAN, INF) : return encode(s, x, t)
    y = -x if s else x
    f = y.numerator // y.denominator
    r = y - f
    k = {'rmi': f, 'rpi': f + (r > 0), 'rzi': f + (r > 0 and y < 0), 'rni': f + (r > Q(1, 2) or (r == Q(1, 2) and f & 1))}[how]
    return encode(int(k < 0 or k == 0 and s), Q(abs(k)), t)

INTEGERS = ['u8', 's8', 'u16', 's16', 'u32', 's32', 'u64', 's64']
def conversions():
    for d in INTEGERS:
        for t in INTEGERS:
            # An 8-bit result stands in a 16-bit register, extended by its sign.
            emit(f'cvt.{d}.{t}', [t], [d], [(v, wrap(value(v, t), d)) for v in ints(t)[2:7]])
    wholes = {}
    for t in ['f32', 'f64', 'f16', 'bf16']:
        near = [encode(int(x < 0), abs(Q(x)), t) for x in (Q(5, 2), Q(-5, 2), Q(7, 2), Q(-1, 2), Q(1, 2), Q(3, 4), Q(-3, 4), 127, 128, 255, 256, -129, 32768, 65535, 65536,
                                                         2 ** 31, -2 ** 31, 2 ** 32, 2 ** 63, 2 ** 64, -2 ** 63, -2 ** 64)]
        wholes[t] = list(dict.fromkeys(near + floats(t)[:9]))
        for d in INTEGERS:
            for how in ['rni', 'rzi', 'rmi', 'rpi']:
                emit(f'cvt.{how}.{d}.{t}', [t], [d], [(v, to_integer(v, t, d, how)) for v in wholes[t]])
        for how in ['rni', 'rzi', 'rmi', 'rpi']:
            emit(f'cvt.{how}.{t}.{t}', [t], [t], [(v, to_whole(v, t, how)) for v in wholes[t]])
        for s in INTEGERS:
            for m in ['rn', 'rz', 'rm', 'rp'] if t != 'f64' or WIDTH[s] == 64 else ['rn']:
                odd = [v for v in ints(s)] + ([wrap(v, s) for v in (0x1000001, 0x1000003, 0xff7fffff, 2049, 2051, 257, 259, 65519, 65520)] if WIDTH[s] > 16 else [])
                if WIDTH[s] == 64: odd += [(1 << 53) + 1, (1 << 53) + 3, (1 << 62) + (1 << 54), (1 << 62) + (1 << 54) + 1, 0x8100000000000000 >> 1, 0x4080000000000001]
                if m != 'rn': odd = odd[::2]
                emit(f'cvt.{m}.{t}.{s}', [s], [t], [(v, encode(int(value(v, s) < 0), Q(abs(value(v, s))), t, m)) for v in odd])
    emit('cvt.rzi.ftz.s32.f32', ['f32'], ['s32'], [(1, 0), (0x40200000, 2)])
    emit('cvt.rpi.ftz.s32.f32', ['f32'], ['s32'], [(1, 0), (0x40200000, 3)])
    def float_to_float(d, s, m='', after='', mods=''):
        halves = [1, 3, 5] # between two results, for narrowing
        extra = []
        if WIDTH[d] < WIDTH[s] or d == 'tf32':
            p = FORMATS[d][0]
            for k in (1, 3):
                extra.append(encode(0, Q(1) + Q(k) * Q(2) ** -p, s)); extra.append(encode(1, Q(1) + Q(k) * Q(2) ** -p + Q(2) ** -(p + 4), s))
            bias = FORMATS[d][1]
            extra += [encode(0, Q(3) * Q(2) ** (-bias - p + 1), s), encode(0, Q(2) ** (-bias - p + 1), s), encode(1, Q(2) ** (-bias - p + 2), s),
                      encode(0, (Q(2) - Q(2) ** -p) * Q(2) ** bias, s), encode(1, (Q(2) - Q(2) ** (1 - p)) * Q(2) ** bias, s)]
        def run(v):
            if 'ftz' in mods and s == 'f32': v = flush(v, s)
            r = encode(*decode(v, s), d, m or 'rn')
            if 'ftz' in mods and d == 'f32': r = flush(r, d)
            return unit(r, d) if after == 'sat' else relu(r, d) if after == 'relu' else r
        mid = ''.join('.' + x for x in (m, 'ftz' if 'ftz' in mods else '', after) if x)
        vs = floats(s) + extra
        return f'cvt{mid}.{d}.{s}', [(v, run(v)) for v in vs]
    for d, s, m, after, mods in [('f64', 'f32', '', '', ''), ('f64', 'f32', '', '', 'ftz'), ('f32', 'f64', 'rn', '', ''), ('f32', 'f64', 'rz', '', ''), ('f32', 'f64', 'rm', '', ''),
                                 ('f32', 'f64', 'rp', '', ''), ('f32', 'f64', 'rn', '', 'ftz'), ('f32', 'f64', 'rn', 'sat', ''), ('f32', 'f32', '', 'sat', ''), ('f32', 'f32', '', 'sat', 'ftz'),
                                 ('f32', 'f32', '', '', 'ftz'), ('f64', 'f64', '', '', ''), ('f32', 'f16', '', '', ''), ('f32', 'f16', '', '', 'ftz'), ('f64', 'f16', '', '', ''),
                                 ('f32', 'bf16', '', '', ''), ('f64', 'bf16', '', '', ''), ('f16', 'f16', '', 'sat', ''), ('f16', 'f32', 'rn', 'sat', '')] + \
            [(h, s, m, '', '') for h in ('f16', 'bf16') for s in ('f32', 'f64') for m in ('rn', 'rz', 'rm', 'rp')] + \
            [(h, 'f32', m, 'relu', '') for h in ('f16', 'bf16') for m in ('rn', 'rz')]:
        name, cases = float_to_float(d, s, m, after, mods)
        emit(name, [s], [d], cases)
    for h in ['f16', 'bf16']:
        for m in ['rn', 'rz']:
            for after in ['', 'relu']:
                _, one = float_to_float(h, 'f32', m, after)
                emit(f"cvt.{m}{'.' + after if after else ''}.{h}x2.f32", ['f32', 'f32'], ['u32'], [(c[0], d[0], c[1] << 16 | d[1]) for c, d in zip(one, one[5:] + one[:5])])
    def tf32(v, m, after=''):
        s, x = decode(v, 'f32')
        r = encode(s, x, 'f32', m, keep=11)
        return relu(r, 'f32') if after else r
    vs = [v for v in floats('f32') + [0x3f801000, 0x3f803000, 0xbf801001, 0x7f7fffff, 0x3f800fff, 0x00001000, 0x00000fff]]
    for m, after in [('rna', ''), ('rn', ''), ('rz', ''), ('rn', 'relu'), ('rz', 'relu')]:
        emit(f"cvt.{m}{'.' + after if after else ''}.tf32.f32", ['f32'], ['f32'], [(v, tf32(v, m, after)) for v in vs])

def f8_value(v, t):
    """(sign, magnitude) of an 8-bit float"""
    sign, m = v >> 7, v & 0x7f
    eb, mb, bias = (4, 3, 7) if t == 'e4m3' else (5, 2, 15)
    if t == 'e4m3' and m == 0x7f or t == 'e5m2' and m > 0x7c: return (0, NAN)
    if t == 'e5m2' and m == 0x7c: return (sign, INF)
    e, f = m >> mb, m & ((1 << mb) - 1)
    return (sign, Q(f) * Q(2) ** (1 - bias - mb) if e == 0 else Q(f + (1 << mb)) * Q(2) ** (e - bias - mb))

def to_f8(v, s, t):
    """by searching for the nearest of all numbers of the format"""
    sign, x = decode(v, s)
    if x == NAN: return 0x7f
    numbers = [(k, f8_value(k, t)[1]) for k in range(0x7f if t == 'e4m3' else 0x7c)]
    if x == INF: return sign << 7 | numbers[-1][0]
    best = min(numbers, key=lambda n: (abs(n[1] - x), n[0] & 1))
    return sign << 7 | best[0]

def tiny_floats():
    for t in ['e4m3', 'e5m2']:
        for s in ['f32', 'f16']:
            near = floats(s, 20) + [encode(random.getrandbits(1), Q(random.getrandbits(6), 8) * Q(2) ** k, s) for k in range(-20, 12)]
            near += [encode(0, Q(x), s) for x in (448, 464, 465, 480, 57344, 61440, 61441 if s == 'f32' else 61472, Q(1, 512), Q(1, 1024), Q(3, 1024), Q(1, 65536), Q(1, 131072), Q(3, 131072))]
            one = [(v, to_f8(v, s, t)) for v in near]
            for after in ['', '.relu']:
                def r(x): return 0 if after and x >> 7 and x != 0x7f else x
                if s == 'f32': emit(f'cvt.rn.satfinite{after}.{t}x2.f32', ['f32', 'f32'], ['b16'], [(a[0], b[0], r(a[1]) << 8 | r(b[1])) for a, b in zip(one, one[7:] + one[:7])])
                else: emit(f'cvt.rn.satfinite{after}.{t}x2.f16x2', ['u32'], ['b16'], [(a[0] << 16 | b[0], r(a[1]) << 8 | r(b[1])) for a, b in zip(one, one[7:] + one[:7])])
        for after in ['', '.relu']:
            def half(v):
                h = encode(*f8_value(v, t), 'f16')
                return relu(h, 'f16') if after else h
            emit(f'cvt.rn{after}.f16x2.{t}x2', ['b16'], ['u32'], [(v | (v * 7 + 3) % 256 << 8, half(v) | half((v * 7 + 3) % 256) << 16) for v in list(range(0, 256, 9)) + [0x7c, 0x7e, 0x7f, 0xff]])

def moves():
    for t in ['b16', 'u16', 's16', 'f16', 'b32', 'u32', 's32', 'f32', 'b64', 'u64', 's64', 'f64']:
        w = LETTER[WIDTH[t]]
        out.append(f'mov.{t} {w} > {w}')
        for v in [0, (1 << {'h': 16, 'r': 32, 'q': 64}[w]) - 1, 0x1234]: out.append(f' {v:x} {v:x}')

def video():
    low = {2: 0xffff, 4: 0xff}
    def run(verb, n, d, a, b, sat, total, how, x, y, c):
        w = 32 // n
        r, s = 0, c
        for k in range(n):
            p, q = [signed(v >> w * k, w) if t == 's32' else v >> w * k & low[n] for v, t in ((x, a), (y, b))]
            v = {'add': p + q, 'sub': p - q, 'absdiff': abs(p - q), 'min': min(p, q), 'max': max(p, q),
                 'avrg': (p + q + 1) // 2 if p + q >= 0 else -((1 - (p + q)) // 2), 'set': int(bool(how) and ORDERED[how](p, q))}[verb]
            if sat: v = max(-(1 << (w - 1)), min((1 << (w - 1)) - 1, v)) if d == 's32' else max(0, min(low[n], v))
            r |= (v & low[n]) << w * k
            s += v
        return (s if total else r) & 0xffffffff
    xs = [(0x80ff7f01, 0x7f01ff80, 5), (0xffffffff, 0x01010101, 0), (0x12345678, 0x87654321, 100), (0x00800080, 0x807f0001, 0xffffffff), (0xffff8000, 0x00017fff, 1)]
    for n in [2, 4]:
        for verb in ['add', 'sub', 'absdiff', 'min', 'max', 'avrg']:
            for d, a, b, sat, total in [('u32', 'u32', 'u32', 0, 0), ('s32', 's32', 's32', 1, 0), ('u32', 'u32', 's32', 1, 0), ('u32', 'u32', 'u32', 0, 1), ('s32', 's32', 's32', 0, 1)]:
                name = f"v{verb}{n}.{d}.{a}.{b}{'.sat' if sat else ''}{'.add' if total else ''}"
                emit(name, ['u32'] * 3, ['u32'], [x + (run(verb, n, d, a, b, sat, total, '', *x),) for x in xs])
        for how in ORDERED:
            emit(f'vset{n}.s32.u32.{how}', ['u32'] * 3, ['u32'], [x + (run('set', n, 'u32', 's32', 'u32', 0, 0, how, *x),) for x in xs])
        emit(f'vset{n}.u32.u32.ge.add', ['u32'] * 3, ['u32'], [x + (run('set', n, 'u32', 'u32', 'u32', 0, 1, 'ge', *x),) for x in xs])

BY_HAND = """
ex2.approx.f32 r > r
 0 3f800000
 80000000 3f800000
 1 3f800000
 3f800000 40000000
 bf800000 3f000000
 41200000 44800000
 c3150000 1
 c3170000 0
 c2fc0000 800000
 43000000 7f800000
 7f800000 7f800000
 ff800000 0
 7fc00000 7fffffff
ex2.approx.ftz.f32 r > r
 c2fe0000 0
 c2fc0000 800000
 3f800000 40000000
lg2.approx.f32 r > r
 3f800000 0
 40000000 3f800000
 41000000 40400000
 3f000000 bf7ffffe
 1 c3150000
 0 ff800000
 80000000 ff800000
 bf800000 7fffffff
 7f800000 7f800000
 ff800000 7fffffff
 7fc00000 7fffffff
lg2.approx.ftz.f32 r > r
 1 ff800000
 80000001 ff800000
 41000000 40400000
sin.approx.f32 r > r
 0 0
 80000000 80000000
 7f800000 7fffffff
 ff800000 7fffffff
 7fc00000 7fffffff
sin.approx.ftz.f32 r > r
 1 0
 80000001 80000000
cos.approx.f32 r > r
 0 3f800000
 80000000 3f800000
 1 3f800000
 7f800000 7fffffff
 7fc00000 7fffffff
rcp.approx.f32 r > r
 40000000 3f000000
 0 7f800000
 80000000 ff800000
 7f800000 0
 ff800000 80000000
 7fc00000 7fffffff
 7e800000 800000
rcp.approx.ftz.f32 r > r
 1 7f800000
 80000001 ff800000
 40000000 3f000000
 7f000000 0
rcp.approx.ftz.f64 q > q
 4000000000000000 3fe0000000000000
 0 7ff0000000000000
 8000000000000000 fff0000000000000
 1 7ff0000000000000
 7ff0000000000000 0
 fff0000000000000 8000000000000000
rsqrt.approx.f32 r > r
 40800000 3f000000
 3f800000 3f800000
 0 7f800000
 80000000 ff800000
 7f800000 0
 bf800000 7fffffff
 ff800000 7fffffff
 7fc00000 7fffffff
rsqrt.approx.ftz.f32 r > r
 1 7f800000
 80000001 ff800000
 40800000 3f000000
rsqrt.approx.f64 q > q
 4010000000000000 3fe0000000000000
 0 7ff0000000000000
 8000000000000000 fff0000000000000
 7ff0000000000000 0
 bff0000000000000 nan
rsqrt.approx.ftz.f64 q > q
 4010000000000000 3fe0000000000000
 1 7ff0000000000000
 8000000000000001 fff0000000000000
sqrt.approx.f32 r > r
 40800000 40000000
 0 0
 80000000 80000000
 7f800000 7f800000
 bf800000 7fffffff
sqrt.approx.ftz.f32 r > r
 1 0
 80000001 80000000
 40800000 40000000
div.approx.f32 r r > r
 40c00000 40000000 40400000
 3f800000 0 7f800000
 0 0 7fffffff
 7f800000 3f800000 7f800000
div.full.f32 r r > r
 40c00000 40000000 40400000
 3f800000 80000000 ff800000
 7f800000 7f800000 7fffffff
div.full.ftz.f32 r r > r
 3f800000 1 7f800000
div.approx.ftz.f32 r r > r
 3f800000 80000001 ff800000
tanh.approx.f32 r > r
 0 0
 80000000 80000000
 7f800000 3f800000
 ff800000 bf800000
 7fc00000 7fffffff
tanh.approx.f16 h > h
 0 0
 7c00 3c00
 fc00 bc00
 7e00 7fff
tanh.approx.f16x2 r > r
 7c000000 3c000000
 fc007c00 bc003c00
tanh.approx.bf16 h > h
 0 0
 7f80 3f80
 ff80 bf80
tanh.approx.bf16x2 r > r
 7f80ff80 3f80bf80
ex2.approx.f16 h > h
 0 3c00
 3c00 4000
 bc00 3800
 cc00 100
 ce00 1
 7c00 7c00
 fc00 0
ex2.approx.f16x2 r > r
 3c000000 40003c00
ex2.approx.ftz.bf16 h > h
 0 3f80
 3f80 4000
 ff80 0
ex2.approx.ftz.bf16x2 r > r
 3f80bf80 40003f00
mbarrier.pending_count.b64 q > r
 4000050000500003 3
pack.b32.b16 h h > r
 1234 abcd abcd1234
pack.b64.b32 r r > q
 12345678 9abcdef0 9abcdef012345678
"""

for family in (integers, carries, bits, logic, comparisons, arithmetic_rows, conversions, tiny_floats, moves, video): family()
print("# Operands and results of instructions, written by instructions.py, which says how to read this.")
print('\n'.join(out))
print(BY_HAND.strip())
