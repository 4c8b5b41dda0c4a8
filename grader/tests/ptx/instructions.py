#!/usr/bin/env python3
"""instructions.py — writes instructions.txt: operands and results for each instruction, for test_insn.c.

Run by hand (python3 instructions.py > instructions.txt) when the table gains a row. The results come from exact
arithmetic on integers and fractions, written from the PTX manual's text, not from the simulator's source. `BY_HAND`
has results without such arithmetic, such as special values of approximate functions; its lg2 of 0.5 is an H100's
(grader/tests/mufu).

Format of the output: a line "opcode types > types" (b 8, h 16, r 32, q 64 bits, p predicate; #text an immediate operand
as it is written), then one indented line a case, operands and results in hexadecimal; "nan" is any NaN. The carry flag
stands last among operands and results of instructions that take or give it.
"""
import sys
sys.dont_write_bytecode = True
from cases_floats import arithmetic_rows, comparisons, conversions, processors, tiny_floats
from cases_integers import bits, carries, integers, logic, moves, video
from values import out

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

for family in (integers, carries, bits, logic, comparisons, arithmetic_rows, conversions, tiny_floats, moves, video, processors): family()
print("# Operands and results of instructions, written by instructions.py, which says how to read this.")
print('\n'.join(out))
print(BY_HAND.strip())
