#!/usr/bin/env python3
"""Finds which branches ptxas replaces by predicates, for grader/sim/timing/if_conversion.c.

    if_conversion.py [PTXAS [NVDISASM]]     prints, for each shape, the longest arms without a branch

It writes PTX with a branch over one or two arms of n machine instructions (the branch at the end of the first of two arms
included), without and with a load from global memory in the arms or behind them. It needs no GPU."""
import pathlib, subprocess, sys, tempfile

HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q) {
.reg .pred %p<2>; .reg .f32 %f<6>; .reg .b64 %d<8>; .reg .b32 %r<2>;
ld.param.u64 %d1, [p]; ld.param.u64 %d6, [q]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4;
add.s64 %d3, %d1, %d2; add.s64 %d7, %d6, %d2; ld.global.f32 %f1, [%d3]; mov.f32 %f2, %f1;
setp.gt.f32 %p1, %f1, 0f3F800000;
@%p1 bra A;
"""


def arm(n, constant, load):
    """n machine instructions: a load and its use, or none, and a chain of multiply-adds."""
    lines = [f"ld.global.f32 %f4, [%d7+{4096 * constant}]; add.f32 %f2, %f2, %f4;"] if load else []
    for i in range(n - 2 * load):
        lines.append(f"fma.rn.f32 %f2, %f2, %f1, 0f{0x3f800000 + 4096 * constant + 64 * i:08X};")
    return lines


def ptx(n, arms, load, load_behind):
    lines = arm(n - (arms == 2), 1, load)
    if arms == 2: lines += ["bra.uni C;", "A:"] + arm(n - 1, 2, load) + ["C:"]
    else: lines += ["A:"]
    if load_behind: lines.append("ld.global.f32 %f5, [%d7+64]; add.f32 %f2, %f2, %f5;")
    return HEAD + "\n".join(lines) + "\nst.global.f32 [%d3], %f2; ret; }\n"


def branches(tools, text):
    with tempfile.TemporaryDirectory() as folder:
        source, code = pathlib.Path(folder, "k.ptx"), pathlib.Path(folder, "k.cubin")
        source.write_text(text)
        subprocess.run([tools[0], "-arch=sm_90", source, "-o", code], check=True)
        listing = subprocess.run([tools[1], "-c", code], capture_output=True, text=True, check=True).stdout
    return sum("BRA `" in line for line in listing.splitlines()) - 1 # the last one is the loop behind EXIT


def main():
    tools = (sys.argv[1:] + ["build/cuda/bin/ptxas", "build/nvdisasm"][len(sys.argv) - 1:])[:2]
    for arms in (1, 2):
        for load, load_behind in ((0, 0), (1, 0), (0, 1)):
            longest = max((n for n in range(3, 25) if branches(tools, ptx(n, arms, load, load_behind)) <= 0), default=0)
            print(f"{arms} arms, load in them: {'ny'[load]}, behind them: {'ny'[load_behind]}: up to {longest}")


if __name__ == "__main__":
    main()
