"""Counts the machine instructions that ptxas makes of a PTX instruction, for grader/sim/timing/lowering.def.

    python3 grader/tests/timing/lowering.py build/cuda/bin/ptxas

A kernel holds 8, then 24 copies of a dependent sequence; the growth of its code over 16 is the count. Where a sequence
has other instructions beside the one in question (xor, add), they are counted too. NOPs are not."""
import os, struct, subprocess, sys, tempfile

PTX = os.path.abspath(sys.argv[1])
os.chdir(tempfile.mkdtemp())
def text_size(cubin):
    d=open(cubin,'rb').read()
    shoff=struct.unpack_from('<Q',d,0x28)[0]; es,n,sx=struct.unpack_from('<HHH',d,0x3A)
    secs=[struct.unpack_from('<IIQQQQIIQQ',d,shoff+i*es) for i in range(n)]
    st=secs[sx]; 
    for s in secs:
        nm=d[st[4]+s[0]:d.index(b'\0',st[4]+s[0])].decode()
        if nm=='.text.k':
            b=d[s[4]:s[4]+s[5]]
            # count non-NOP instructions (opcode low 12 bits 0x918 = NOP)
            c=0
            for i in range(0,len(b),16):
                op=struct.unpack_from('<H',b,i)[0]&0xfff
                if op!=0x918: c+=1
            return c
def build(body,n,arch):
    regs='.reg .b32 %r<2000>;.reg .b64 %d<2000>;.reg .f32 %f<2000>;.reg .f64 %e<2000>;.reg .pred %p<2000>;.reg .b16 %h<2000>;'
    s='.version 8.5\n.target sm_%d\n.address_size 64\n.visible .entry k(.param .u64 o){\n%s\nld.param.u64 %%d0,[o];\n'%(arch,regs)
    s+='mov.u32 %r999,%tid.x; mul.wide.u32 %d999,%r999,64; add.s64 %d998,%d0,%d999;\n'
    s+='ld.global.v4.u32 {%r0,%r1,%r2,%r3},[%d998]; ld.global.v2.u64 {%d1,%d2},[%d998+16]; ld.global.v2.f32 {%f0,%f1},[%d998+32]; ld.global.v2.f64 {%e0,%e1},[%d998+48]; mov.b32 {%h0,%h1},%r3;\n'
    for i in range(n): s+=body(i)+'\n'
    s+='st.global.v2.u32 [%d998],{%r0,%r1}; st.global.v2.u64 [%d998+16],{%d1,%d2}; st.global.v2.f32 [%d998+32],{%f0,%f1}; st.global.v2.f64 [%d998+48],{%e0,%e1};\nret;}\n'
    open('k.ptx','w').write(s)
    r=subprocess.run([PTX,'-arch=sm_%d'%arch,'k.ptx','-o','k.cubin'],capture_output=True,text=True)
    if r.returncode: return None,r.stderr.strip()[:100]
    return text_size('k.cubin'),None
X=lambda c:(lambda i:c)
# each op is a dependent chain, mixed with an xor by a varying register so that nothing cancels
ops={
'add.s32':'add.s32 %r0,%r0,%r1; xor.b32 %r1,%r1,%r0;','(xor only)':'xor.b32 %r0,%r0,%r1; xor.b32 %r1,%r1,%r0;',
'add.s64':'add.s64 %d1,%d1,%d2; xor.b64 %d2,%d2,%d1;','(xor64)':'xor.b64 %d1,%d1,%d2;xor.b64 %d2,%d2,%d1;',
'sub.s64':'sub.s64 %d1,%d1,%d2; xor.b64 %d2,%d2,%d1;',
'mul.lo.s32':'mul.lo.s32 %r0,%r0,%r1;','mad.lo.s32':'mad.lo.s32 %r0,%r0,%r1,%r2;','mul.wide.s32':'mul.wide.s32 %d1,%r0,%r1; cvt.u32.u64 %r0,%d1;',
'mul.hi.s32':'mul.hi.s32 %r0,%r0,%r1;','mul.hi.u32':'mul.hi.u32 %r0,%r0,%r1;','mul.lo.s64':'mul.lo.s64 %d1,%d1,%d2;','mad.lo.s64':'mad.lo.s64 %d1,%d1,%d2,%d2;','mul.hi.u64':'mul.hi.u64 %d1,%d1,%d2;','mul.hi.s64':'mul.hi.s64 %d1,%d1,%d2;',
'div.u32':'div.u32 %r0,%r1,%r0;','div.s32':'div.s32 %r0,%r1,%r0;','rem.u32':'rem.u32 %r0,%r1,%r0;','rem.s32':'rem.s32 %r0,%r1,%r0;',
'div.rn.f32':'div.rn.f32 %f0,%f1,%f0;','div.full.f32':'div.full.f32 %f0,%f1,%f0;','div.approx.f32':'div.approx.f32 %f0,%f1,%f0;','sqrt.rn.f32':'sqrt.rn.f32 %f0,%f0;','rcp.rn.f32':'rcp.rn.f32 %f0,%f0;','sqrt.approx.f32':'sqrt.approx.f32 %f0,%f0;','rsqrt.approx.f32':'rsqrt.approx.f32 %f0,%f0;','rcp.approx.ftz':'rcp.approx.ftz.f32 %f0,%f0;','rcp.approx':'rcp.approx.f32 %f0,%f0;',
'ex2.approx':'ex2.approx.f32 %f0,%f0;','lg2.approx':'lg2.approx.f32 %f0,%f0;','sin.approx':'sin.approx.f32 %f0,%f0;',
'ex2.approx.ftz':'ex2.approx.ftz.f32 %f0,%f0;',
'div.rn.f64':'div.rn.f64 %e0,%e1,%e0;','sqrt.rn.f64':'sqrt.rn.f64 %e0,%e0;','rcp.rn.f64':'rcp.rn.f64 %e0,%e0;',
'fma.f64':'fma.rn.f64 %e0,%e0,%e1,%e1;','fma.f32':'fma.rn.f32 %f0,%f0,%f1,%f1;','min.f32':'min.f32 %f0,%f0,%f1; add.f32 %f0,%f0,%f0;',
'shl.b64':'shl.b64 %d1,%d1,%r0;','shl.b64 imm':'shl.b64 %d1,%d1,3; add.s64 %d1,%d1,%d2; xor.b64 %d1,%d1,%d2;','shr.u64':'shr.u64 %d1,%d1,%r0;','shr.s64':'shr.s64 %d1,%d1,%r0;','min.s64':'min.s64 %d1,%d1,%d2; add.s64 %d2,%d2,%d1;',
'popc.b32':'popc.b32 %r0,%r0;','clz.b32':'clz.b32 %r0,%r0;','brev.b32':'brev.b32 %r0,%r0; add.s32 %r0,%r0,%r1;','bfe.u32':'bfe.u32 %r0,%r0,%r1,%r2;','bfi.b32':'bfi.b32 %r0,%r0,%r1,%r2,%r3;','bfind.u32':'bfind.u32 %r0,%r0;',
'cvt.rn.f32.s32':'cvt.rn.f32.s32 %f0,%r0; mov.b32 %r0,%f0;','cvt.rzi.s32.f32':'cvt.rzi.s32.f32 %r0,%f0; mov.b32 %f0,%r0;','cvt.s64.s32':'cvt.s64.s32 %d1,%r0; xor.b64 %d1,%d1,%d2; shr.u64 %d1,%d1,5; cvt.u32.u64 %r0,%d1;',
'cvt.f64.f32':'cvt.f64.f32 %e0,%f0; cvt.rn.f32.f64 %f0,%e0;','cvt.rni.f32.f32':'cvt.rni.f32.f32 %f0,%f0; add.f32 %f0,%f0,%f1;',
'setp+selp s32':'setp.lt.s32 %p1,%r0,%r1; selp.b32 %r0,%r1,%r2,%p1; xor.b32 %r1,%r1,%r0;','setp+selp s64':'setp.lt.s64 %p1,%d1,%d2; selp.b64 %d1,%d2,%d1,%p1; xor.b64 %d2,%d2,%d1;','div.s64':'div.s64 %d1,%d2,%d1;','rem.u64':'rem.u64 %d1,%d2,%d1;','abs.f32':'abs.f32 %f0,%f0; fma.rn.f32 %f0,%f0,%f1,%f1;',
}
archs=[75,80,86,89,90]
for k,c in ops.items():
    out=[]
    for a in archs:
        x,e1=build(X(c),8,a); y,e2=build(X(c),24,a)
        out.append('%.1f'%((y-x)/16) if x and y else 'ERR '+str(e1))
    print('%-18s'%k,*out)
