"""cases_integers.py — for instructions.py: integers, bits, logic, moves, and the video instructions."""
from cases_floats import ORDERED
from values import *

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
