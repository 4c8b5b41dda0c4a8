"""cases_floats.py — for instructions.py: comparisons, arithmetic, conversions of floating-point numbers."""
from values import *

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

# ---- what processors do differently ----

def rounded_freely(sign, x, t, mode):
    """x, rounded as if there were no least exponent; so a Fraction"""
    far = Q(2) ** 200
    return decode(encode(sign, x * far, t, mode), t)[1] / far

def flushed_result(sign, x, t, mode):
    """.ftz: zero where the rounded result is subnormal, even if the exact one rounds to the least normal number"""
    return encode(sign, rounded_freely(sign, x, t, mode), t) if rounded_freely(sign, x, t, mode) >= Q(2) ** -126 else sign << 31

def processors():
    """Results that round up to the least normal number, around each border; NaN operands of f64, with what they carry."""
    least, three = 0x00800000, 0x00c00000
    def f32(x, sign=0): r = encode(sign, x, 'f32'); assert decode(r, 'f32')[1] == x; return r
    near = []                                     # of products: (2^23 + i)(2^24 - j) just below 2^47
    for i, j in [(1, 1), (1, 2), (1, 3), (2, 3), (2, 4), (181, 362), (1000, 2000), (1024, 2048), (1447, 2894), (2047, 4094), (2048, 4095), (2900, 5796), (3000, 5995)]:
        a, b = f32(Q(2 ** 23 + i) / 2 ** 24), f32(Q(2 ** 24 - j) * Q(2) ** -149)
        near += [(a, b), (a | 1 << 31, b), (f32(Q(2 ** 23 + i) * Q(2) ** -53), f32(Q(2 ** 24 - j) * Q(2) ** -120, 1))]
    sums = [(a, b, c) for a, b in near for c in (0, 1 << 31)]
    for k in (140, 148, 149, 150, 151, 152, 160, 200, 240):       # 2^-126 less a product far below it
        for m in (Q(1), Q(2 ** 23 + 1, 2 ** 23), Q(2 ** 24 - 1, 2 ** 23)):
            sums += [(f32(m * Q(2) ** -(k // 2)), f32(Q(2) ** -(k - k // 2), 1), least), (f32(m * Q(2) ** -(k // 2)), f32(Q(2) ** -(k - k // 2)), least | 1 << 31)]
    for mode in ['rn', 'rz', 'rm', 'rp']:
        def product(a, b): return flushed_result(*exact_product(decode(flush(a, 'f32'), 'f32'), decode(flush(b, 'f32'), 'f32')), 'f32', mode)
        def fused(a, b, c):
            a, b, c = [decode(flush(v, 'f32'), 'f32') for v in (a, b, c)]
            return flushed_result(*exact_sum(exact_product(a, b), c, mode), 'f32', mode)
        emit(f'mul.{mode}.ftz.f32', ['f32', 'f32'], ['f32'], [c + (product(*c),) for c in near])
        emit(f'fma.{mode}.ftz.f32', ['f32'] * 3, ['f32'], [c + (fused(*c),) for c in sums])
        wide = [encode(s, Q(2) ** -126 - x, 'f64') for s in (0, 1) for k in (149, 150, 151, 152) for e in (0, Q(2) ** -178, -Q(2) ** -178)
                for x in [Q(2) ** -k + e]] + [encode(s, Q(2) ** -126, 'f64') for s in (0, 1)]
        emit(f'cvt.{mode}.ftz.f32.f64', ['f64'], ['f32'], [(v, flushed_result(*decode(v, 'f64'), 'f32', mode)) for v in wide])
    quiet, other, loud, invalid = 0x7ff8000000000123, 0xfff8000000000456, 0xfff0000000000789, 0xfff8 << 48
    one, inf, zero, minus = encode(0, Q(1), 'f64'), encode(0, INF, 'f64'), 0, encode(1, Q(2), 'f64')
    kept = lambda v: v | 1 << 51
    for op in ['add', 'sub', 'mul', 'div']:
        cases = [(v, one, kept(v)) for v in (quiet, other, loud)] + [(minus, v, kept(v)) for v in (quiet, other, loud)]
        cases += {'add': [(inf, inf | 1 << 63, invalid)], 'sub': [(inf, inf, invalid)], 'mul': [(zero, inf, invalid), (inf, zero, invalid)],
                  'div': [(zero, zero, invalid), (inf, inf, invalid)]}[op]
        emit(f'{op}.rn.f64', ['f64'] * 2, ['f64'], cases)
    emit('fma.rn.f64', ['f64'] * 3, ['f64'], [(v, one, one, kept(v)) for v in (quiet, loud)] + [(one, v, minus, kept(v)) for v in (other, loud)]
         + [(one, minus, v, kept(v)) for v in (quiet, other, loud)] + [(inf, zero, one, invalid), (inf, one, inf | 1 << 63, invalid)])
    emit('sqrt.rn.f64', ['f64'], ['f64'], [(minus, invalid), (other, other), (loud, kept(loud))])
    emit('rcp.rn.f64', ['f64'], ['f64'], [(quiet, quiet), (loud, kept(loud))])
    for op in ['sub', 'div']: # of two NaN operands, the first; compilers exchange those of sums and products
        emit(f'{op}.rn.f64', ['f64'] * 2, ['f64'], [(a, b, kept(a)) for a in (quiet, other, loud) for b in (quiet, other, loud)])
