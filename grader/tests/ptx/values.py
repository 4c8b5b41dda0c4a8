"""values.py — for instructions.py: operands of each type, and exact arithmetic on them, which gives the results."""
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
