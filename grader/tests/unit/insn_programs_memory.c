/* insn_programs_memory.c — programs for loads, stores, memory spaces, and the atomics that the
 * loop in insn_programs.c doesn't cover. */
#include "grader/tests/unit/insn_programs.h"

#include <string.h>

/* The f16, bf16 and f32 encodings of small whole numbers: exponent of the highest bit, the rest as
 * fraction. */
static u64 full_width(unsigned n, unsigned bias, unsigned fraction_bits) {
    if (!n) return 0;
    unsigned e = 31 - (unsigned)__builtin_clz(n);
    return (u64)(e + bias) << fraction_bits | (u64)(n - (1u << e)) << fraction_bits >> e;
}
static u64 f16(unsigned n) { return full_width(n, 15, 10); }
static u64 bf16(unsigned n) { return full_width(n, 127, 7); }
static u64 f32_(unsigned n) { return full_width(n, 127, 23); }
static u64 f64_(unsigned n) { return full_width(n, 1023, 52); }

static u64 narrow(unsigned t, unsigned w) {
    u64 v = 0xf0 + t; /* a byte from 0xf0 on, wrapping */
    u8 byte = (u8)v;
    return w == 0   ? byte
           : w == 1 ? (u64)(u32)(s32)(s8)byte
           : w == 2 ? (u64)(s64)(s8)byte
                    : (u16)(s16)(s8)byte;
}
static u64 spaces(unsigned t, unsigned w) { return 1000 * w + t; }
static u64 vectors(unsigned t, unsigned w) { return t * 16 + w; }
static u64 wide(unsigned t, unsigned w) { return w ? ~(u64)t : t; }
static u64 constants(unsigned t, unsigned w) { return w ? 10 * (t % 16) + 5 : 10 * (t % 16); }
static u64 is_in(unsigned t, unsigned w) {
    (void)t;
    return 1ull << w == 1 || w == 1 || w == 2;
}
static u64 parameters(unsigned t, unsigned w) {
    (void)t;
    return w == 0 ? 0x1122334455667788 : w == 1 ? 0x99aabbcc : 0x88;
}
static u64 halves(unsigned t, unsigned w) {
    return w == 0   ? f16(t)
           : w == 1 ? bf16(t)
           : w == 2 ? f16(t) | f16(2 * t) << 16
                    : bf16(t) | bf16(2 * t) << 16;
}
static u64 extremes(unsigned t, unsigned w) {
    return w == 0 ? f16(t ? t - 1 : 0) : w == 1 ? f16(t ? 2 * (t - 1) : 0) : 0;
}
static u64 floats(unsigned t, unsigned w) {
    return w == 0 ? f32_(t) : w == 1 ? f64_(t) : w == 2 ? f32_(t) : f32_(3 * t);
}
static u64 flushing(unsigned t, unsigned w) {
    (void)t;
    return w ? 2 : 0;
}
static u64 swaps(unsigned t, unsigned w) {
    return w < 2 ? (t ? 100 + t - 1 + w * 1000 : 0) : w == 2 ? (t > 1 ? 7 : 0) : (t > 1 ? 9 : 0);
}
static u64 unpacked(unsigned t, unsigned w) {
    return w == 0 ? t : w == 1 ? 5 : w == 2 ? t & 0xffff : 77;
}
static u64 shared_byte(unsigned t, unsigned w) {
    (void)w;
    return 3 * ((t + 1) % 32);
}

/* Row 3 holds 0, 1, 2 …: bits of t as a float; itself, by a texture; the nearer corner of a gather
 * at (t + ½, 3½), which is (t, 3); the width; outside: nothing, or the row's last. */
static u64 texels(unsigned t, unsigned w) {
    float f = (float)t;
    u32 bits, last = 0x41f80000; /* 31.0f */
    memcpy(&bits, &f, sizeof bits);
    return w == 0 ? bits : w == 1 || w == 2 ? t : w == 3 ? 32 : w == 4 ? 0 : last;
}

const struct insn_program memory_programs[] = {
    {"narrow loads extend by their type",
     "add.u32 %r1, %r0, 0xf0;\ncvt.u64.u32 %q2, %r0;\nadd.u64 %q2, %q2, %q1;\nst.global.u8 [%q2], "
     "%r1;\n"
     "ld.global.u8 %h1, [%q2];\ncvt.u64.u16 %q3, %h1;\nst.global.u64 [%q0], %q3;\n"
     "ld.global.s8 %r2, [%q2];\ncvt.u64.u32 %q3, %r2;\nst.global.u64 [%q0+8], %q3;\n"
     "ld.global.s8 %q3, [%q2];\nst.global.u64 [%q0+16], %q3;\n"
     "ld.global.s8 %h2, [%q2];\ncvt.u64.u16 %q3, %h2;\nst.global.u64 [%q0+24], %q3;",
     32, 4, narrow, SIM_FAULT_NONE},
    {"each space, by its own and by generic addresses",
     "mul.wide.u32 %q2, %r0, 4;\nmov.u64 %q3, s;\nadd.u64 %q3, %q3, %q2;\nst.shared.u32 [%q3], "
     "%r0;\nld.shared.u32 "
     "%r1, [%q3];\n"
     "cvt.u64.u32 %q5, %r1;\nst.global.u64 [%q0], %q5;\n"
     "cvta.shared.u64 %q4, %q3;\nadd.u32 %r2, %r0, 1000;\nst.u32 [%q4], %r2;\nld.shared.u32 %r1, "
     "[%q3];\ncvt.u64.u32 "
     "%q5, %r1;\nst.global.u64 [%q0+8], %q5;\n"
     "mov.u64 %q6, l;\nadd.u32 %r2, %r0, 2000;\nst.local.u32 [%q6+4], %r2;\ncvta.local.u64 %q7, "
     "%q6;\nld.u32 %r1, "
     "[%q7+4];\ncvt.u64.u32 %q5, %r1;\nst.global.u64 [%q0+16], %q5;\n"
     "cvta.to.local.u64 %q8, %q7;\nld.local.u32 %r3, [%q8+4];\nadd.u32 %r3, %r3, "
     "1000;\ncvt.u64.u32 %q5, "
     "%r3;\nst.global.u64 [%q0+24], %q5;\n"
     "add.u32 %r2, %r0, 4000;\nadd.u64 %q9, %q1, %q2;\ncvta.to.global.u64 %q9, %q9;\nst.global.u32 "
     "[%q9], "
     "%r2;\ncvta.global.u64 %q10, %q9;\nld.u32 %r4, [%q10];\ncvt.u64.u32 %q5, %r4;\nst.global.u64 "
     "[%q0+32], %q5;",
     32, 5, spaces, SIM_FAULT_NONE},
    {"vectors in global, shared and local memory",
     "shl.b32 %r1, %r0, 4;\nadd.u32 %r2, %r1, 1;\nadd.u32 %r3, %r1, 2;\nadd.u32 %r4, %r1, "
     "3;\nmul.wide.u32 %q2, %r0, "
     "16;\nadd.u64 %q3, %q1, %q2;\n"
     "st.global.v4.u32 [%q3], {%r1, %r2, %r3, %r4};\nld.global.v4.u32 {%r5, %r6, %r7, %r8}, "
     "[%q3];\n"
     "mov.u64 %q4, s;\nadd.u64 %q4, %q4, %q2;\nst.shared.v2.u32 [%q4], {%r5, "
     "%r6};\nst.shared.v2.u32 [%q4+8], {%r7, "
     "%r8};\nld.shared.v4.u32 {%r9, %r10, %r11, %r12}, [%q4];\n"
     "mov.u64 %q5, l;\nst.local.v4.u32 [%q5], {%r9, %r10, %r11, %r12};\nld.local.v2.u32 {%r13, _}, "
     "[%q5];\nld.local.v2.u32 {%r15, %r16}, [%q5+8];\nld.local.u32 %r14, [%q5+4];\n"
     "cvt.u64.u32 %q6, %r13;\ncvt.u64.u32 %q7, %r14;\nst.global.v2.u64 [%q0], {%q6, "
     "%q7};\ncvt.u64.u32 %q6, "
     "%r15;\ncvt.u64.u32 %q7, %r16;\nst.global.v2.u64 [%q0+16], {%q6, %q7};",
     32, 4, vectors, SIM_FAULT_NONE},
    {"128-bit registers",
     "cvt.u64.u32 %q2, %r0;\nnot.b64 %q3, %q2;\nmov.b128 %o1, {%q2, %q3};\nmov.b128 %o2, "
     "%o1;\nmul.wide.u32 %q4, %r0, "
     "16;\nadd.u64 %q4, %q4, %q1;\n"
     "st.global.b128 [%q4], %o2;\nld.global.b128 %o3, [%q4];\nmov.b128 {%q5, %q6}, "
     "%o3;\nst.global.u64 [%q0], "
     "%q5;\nst.global.u64 [%q0+8], %q6;",
     32, 2, wide, SIM_FAULT_NONE},
    {"constants and uniform loads",
     "and.b32 %r1, %r0, 15;\nmul.wide.u32 %q2, %r1, 4;\nmov.u64 %q3, table;\nadd.u64 %q3, %q3, "
     "%q2;\nld.const.u32 %r2, "
     "[%q3];\ncvt.u64.u32 %q4, %r2;\nst.global.u64 [%q0], %q4;\n"
     "add.u64 %q6, %q1, %q2;\nadd.u32 %r3, %r2, 5;\nst.global.u32 [%q6], %r3;\nldu.global.u32 %r4, "
     "[%q6];\ncvt.u64.u32 "
     "%q5, %r4;\nst.global.u64 [%q0+8], %q5;",
     16, 2, constants, SIM_FAULT_NONE},
    {"isspacep",
     "mov.u64 %q2, s;\ncvta.shared.u64 %q2, %q2;\nmov.u64 %q3, l;\ncvta.local.u64 %q3, %q3;\n"
     "isspacep.shared %p1, %q2;\nisspacep.local %p2, %q3;\nisspacep.global %p3, "
     "%q1;\nisspacep.shared %p4, "
     "%q1;\nisspacep.global %p5, %q3;\nisspacep.local %p6, %q2;\n"
     "selp.u64 %q4, 1, 0, %p1;\nst.global.u64 [%q0], %q4;\nselp.u64 %q4, 1, 0, %p2;\nst.global.u64 "
     "[%q0+8], "
     "%q4;\nselp.u64 %q4, 1, 0, %p3;\nst.global.u64 [%q0+16], %q4;\n"
     "selp.u64 %q4, 1, 0, %p4;\nst.global.u64 [%q0+24], %q4;\nselp.u64 %q4, 1, 0, "
     "%p5;\nst.global.u64 [%q0+32], "
     "%q4;\nselp.u64 %q4, 1, 0, %p6;\nst.global.u64 [%q0+40], %q4;",
     32, 6, is_in, SIM_FAULT_NONE},
    {"parameters in parts and through an address",
     "ld.param.u64 %q2, [block];\nst.global.u64 [%q0], %q2;\nld.param.u32 %r1, "
     "[block+12];\ncvt.u64.u32 %q3, "
     "%r1;\nst.global.u64 [%q0+8], %q3;\n"
     "mov.b64 %q4, block;\ncvta.param.u64 %q5, %q4;\nld.u8 %h1, [%q5];\ncvt.u64.u16 %q6, "
     "%h1;\nst.global.u64 [%q0+16], "
     "%q6;",
     32, 3, parameters, SIM_FAULT_NONE},
    {"atomic sums of halves",
     "mov.b16 %h1, 0x3c00;\natom.global.add.noftz.f16 %h2, [%q1], %h1;\ncvt.u64.u16 %q2, "
     "%h2;\nst.global.u64 [%q0], "
     "%q2;\n"
     "mov.b16 %h1, 0x3f80;\natom.global.add.noftz.bf16 %h2, [%q1+2], %h1;\ncvt.u64.u16 %q2, "
     "%h2;\nst.global.u64 "
     "[%q0+8], %q2;\n"
     "mov.b32 %r1, 0x40003c00;\natom.global.add.noftz.f16x2 %r2, [%q1+4], %r1;\ncvt.u64.u32 %q2, "
     "%r2;\nst.global.u64 "
     "[%q0+16], %q2;\n"
     "mov.b32 %r1, 0x40003f80;\natom.global.add.noftz.bf16x2 %r2, [%q1+8], %r1;\ncvt.u64.u32 %q2, "
     "%r2;\nst.global.u64 "
     "[%q0+24], %q2;",
     32, 4, halves, SIM_FAULT_NONE},
    {"atomic extremes of vectors of halves",
     "cvt.rn.f16.u32 %h1, %r0;\nadd.f16 %h2, %h1, %h1;\natom.global.v2.f16.max.noftz {%h3, %h4}, "
     "[%q1], {%h1, %h2};\n"
     "cvt.u64.u16 %q2, %h3;\ncvt.u64.u16 %q3, %h4;\nst.global.u64 [%q0], %q2;\nst.global.u64 "
     "[%q0+8], %q3;\n"
     "mov.b32 {%h5, %h6}, %r0;\nmov.b32 %r3, {%h1, %h1};\natom.global.v2.f16x2.min.noftz {%r4, "
     "%r5}, [%q1+16], {%r3, "
     "%r3};\ncvt.u64.u32 %q4, %r4;\nst.global.u64 [%q0+16], %q4;",
     32, 3, extremes, SIM_FAULT_NONE},
    {"atomic sums of floats, alone and in vectors",
     "mov.f32 %f1, 0f3f800000;\natom.global.add.f32 %f2, [%q1], %f1;\nmov.b32 %r2, "
     "%f2;\ncvt.u64.u32 %q2, "
     "%r2;\nst.global.u64 [%q0], %q2;\n"
     "mov.f64 %d1, 0d3ff0000000000000;\natom.global.add.f64 %d2, [%q1+8], %d1;\nst.global.f64 "
     "[%q0+8], %d2;\n"
     "mov.f32 %f3, 0f40400000;\natom.global.add.v2.f32 {%f4, %f5}, [%q1+16], {%f1, %f3};\nmov.b32 "
     "%r3, %f4;\nmov.b32 "
     "%r4, %f5;\n"
     "cvt.u64.u32 %q3, %r3;\ncvt.u64.u32 %q4, %r4;\nst.global.u64 [%q0+16], %q3;\nst.global.u64 "
     "[%q0+24], %q4;",
     32, 4, floats, SIM_FAULT_NONE},
    {"atomic sums flush in global memory and not in shared memory",
     "mov.b32 %f1, 1;\nred.global.add.f32 [%q1], %f1;\nred.global.add.f32 [%q1], "
     "%f1;\nld.global.u64 %q2, "
     "[%q1];\nst.global.u64 [%q0], %q2;\n"
     "mov.u64 %q3, 0;\nst.shared.u64 [s], %q3;\nred.shared.add.f32 [s], %f1;\nred.shared.add.f32 "
     "[s], "
     "%f1;\nld.shared.u64 %q4, [s];\nst.global.u64 [%q0+8], %q4;",
     1, 2, flushing, SIM_FAULT_NONE},
    {"exchange and compare-and-swap of 16 bytes",
     "cvt.u64.u32 %q2, %r0;\nadd.u64 %q3, %q2, 100;\nadd.u64 %q4, %q2, 1100;\nmov.b128 %o1, {%q3, "
     "%q4};\natom.global.exch.b128 %o2, [%q1], %o1;\nmov.b128 {%q5, %q6}, %o2;\n"
     "st.global.u64 [%q0], %q5;\nst.global.u64 [%q0+8], %q6;\nsetp.ne.u32 %p1, %r0, 0;\n"
     "selp.u64 %q7, 0, 1, %p1;\nmov.u64 %q8, 0;\nmov.b128 %o3, {%q7, %q8};\nmov.u64 %q9, "
     "7;\nmov.u64 %q10, "
     "9;\nmov.b128 %o4, {%q9, %q10};\n"
     "atom.global.cas.b128 %o5, [%q1+16], %o3, %o4;\nmov.b128 {%q11, %q12}, %o5;\nst.global.u64 "
     "[%q0+16], "
     "%q11;\nst.global.u64 [%q0+24], %q12;",
     32, 4, swaps, SIM_FAULT_NONE},
    {"registers taken apart",
     "mov.b64 %q2, {%r0, %r0};\nmov.u32 %r1, 5;\nmov.b64 %q3, {%r0, %r1};\nmov.b64 {%r2, %r3}, "
     "%q3;\ncvt.u64.u32 %q4, "
     "%r2;\nst.global.u64 [%q0], %q4;\ncvt.u64.u32 %q4, %r3;\nst.global.u64 [%q0+8], %q4;\n"
     "mov.u32 %r4, 0x4d0000;\nor.b32 %r4, %r4, %r0;\nmov.b32 {%h1, %h2}, %r4;\ncvt.u64.u16 %q5, "
     "%h1;\nst.global.u64 "
     "[%q0+16], %q5;\ncvt.u64.u16 %q5, %h2;\nst.global.u64 [%q0+24], %q5;",
     32, 4, unpacked, SIM_FAULT_NONE},
    {"what another lane stored, after fences and a barrier",
     "mul.lo.u32 %r1, %r0, 3;\nmov.u64 %q2, s;\ncvt.u64.u32 %q3, %r0;\nadd.u64 %q3, %q2, "
     "%q3;\nst.shared.u8 [%q3], "
     "%r1;\nfence.acq_rel.cta;\nfence.sc.gpu;\nmembar.cta;\nmembar.gl;\nbar.warp.sync -1;\n"
     "add.u32 %r2, %r0, 1;\nand.b32 %r2, %r2, 31;\ncvt.u64.u32 %q4, %r2;\nadd.u64 %q4, %q2, "
     "%q4;\nld.shared.u8 %h1, "
     "[%q4];\ncvt.u64.u16 %q5, %h1;\nst.global.u64 [%q0], %q5;",
     32, 1, shared_byte, SIM_FAULT_NONE},
    {"out of bounds", "ld.global.u32 %r1, [%q1+4096];\nst.global.u32 [%q0], %r1;", 32, 0, NULL,
     SIM_FAULT_OUT_OF_BOUNDS},
    {"a parameter at an odd byte", "ld.param.u64 %q2, [5];\nst.global.u64 [%q0], %q2;", 32, 0, NULL,
     SIM_FAULT_MISALIGNED},
    {"misaligned vector atomic", "red.global.add.v4.f32 [%q0+8], {%f1, %f1, %f1, %f1};", 32, 0,
     NULL, SIM_FAULT_MISALIGNED},
    {"misaligned", "ld.global.u32 %r1, [%q1+2];\nst.global.u32 [%q0], %r1;", 32, 0, NULL,
     SIM_FAULT_MISALIGNED},
    {"textures and surfaces",
     "mov.u64 %q8, 0x240000000040;\nmov.u64 %q9, 0x240000000080;\nshl.b32 %r1, %r0, 2;\nmov.u32 "
     "%r2, 3;\n"
     "cvt.rn.f32.u32 %f1, %r0;\nmov.b32 %r3, %f1;\nsust.b.2d.b32.trap [%q9, {%r1, %r2}], {%r3};\n"
     "suld.b.2d.b32.trap {%r4}, [%q9, {%r1, %r2}];\ncvt.u64.u32 %q2, %r4;\nst.global.u64 [%q0], "
     "%q2;\n"
     "add.f32 %f2, %f1, 0f3F000000;\nmov.f32 %f3, 0f40600000;\ntex.2d.v4.f32.f32 {%f4, %f5, %f6, "
     "%f7}, [%q8, {%f2, "
     "%f3}];\ncvt.rzi.u64.f32 %q2, %f4;\nst.global.u64 [%q0+8], %q2;\n"
     "tld4.r.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%q8, {%f2, %f3}];\nadd.f32 %f4, %f4, "
     "%f7;\ncvt.rzi.u64.f32 %q2, "
     "%f7;\nst.global.u64 [%q0+16], %q2;\n"
     "txq.width.b32 %r5, [%q8];\ncvt.u64.u32 %q2, %r5;\nst.global.u64 [%q0+24], %q2;\n"
     "add.s32 %r6, %r1, 4096;\nsuld.b.2d.b32.zero {%r7}, [%q9, {%r6, %r2}];\ncvt.u64.u32 %q2, "
     "%r7;\nst.global.u64 "
     "[%q0+32], %q2;\n"
     "suld.b.2d.b32.clamp {%r7}, [%q9, {%r6, %r2}];\ncvt.u64.u32 %q2, %r7;\nst.global.u64 "
     "[%q0+40], %q2;",
     32, 6, texels, SIM_FAULT_NONE},
    {"a surface's edge traps",
     "mov.u64 %q9, 0x240000000080;\nmov.u32 %r1, 128;\nmov.u32 %r2, 0;\nsuld.b.2d.b32.trap {%r4}, "
     "[%q9, {%r1, %r2}];",
     32, 0, NULL, SIM_FAULT_OUT_OF_BOUNDS},
    {.name = NULL},
};
