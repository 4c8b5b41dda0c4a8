// AC/CE | own | #line with thousands of file names | 
#define L(a) 
# 1 "f0000\033[2J<b>=cmd.h"
__device__ int g0(int x) { return x * 1; }
# 978 "f0001\033[2J<b>=cmd.h"
__device__ int g1(int x) { return x * 2; }
# 1955 "f0002\033[2J<b>=cmd.h"
__device__ int g2(int x) { return x * 3; }
# 2932 "f0003\033[2J<b>=cmd.h"
__device__ int g3(int x) { return x * 4; }
# 3909 "f0004\033[2J<b>=cmd.h"
__device__ int g4(int x) { return x * 5; }
# 4886 "f0005\033[2J<b>=cmd.h"
__device__ int g5(int x) { return x * 6; }
# 5863 "f0006\033[2J<b>=cmd.h"
__device__ int g6(int x) { return x * 7; }
# 6840 "f0007\033[2J<b>=cmd.h"
__device__ int g7(int x) { return x * 8; }
# 7817 "f0008\033[2J<b>=cmd.h"
__device__ int g8(int x) { return x * 9; }
# 8794 "f0009\033[2J<b>=cmd.h"
__device__ int g9(int x) { return x * 10; }
# 9771 "f0010\033[2J<b>=cmd.h"
__device__ int g10(int x) { return x * 11; }
# 10748 "f0011\033[2J<b>=cmd.h"
__device__ int g11(int x) { return x * 12; }
# 11725 "f0012\033[2J<b>=cmd.h"
__device__ int g12(int x) { return x * 13; }
# 12702 "f0013\033[2J<b>=cmd.h"
__device__ int g13(int x) { return x * 14; }
# 13679 "f0014\033[2J<b>=cmd.h"
__device__ int g14(int x) { return x * 15; }
# 14656 "f0015\033[2J<b>=cmd.h"
__device__ int g15(int x) { return x * 16; }
# 15633 "f0016\033[2J<b>=cmd.h"
__device__ int g16(int x) { return x * 17; }
# 16610 "f0017\033[2J<b>=cmd.h"
__device__ int g17(int x) { return x * 18; }
# 17587 "f0018\033[2J<b>=cmd.h"
__device__ int g18(int x) { return x * 19; }
# 18564 "f0019\033[2J<b>=cmd.h"
__device__ int g19(int x) { return x * 20; }
# 19541 "f0020\033[2J<b>=cmd.h"
__device__ int g20(int x) { return x * 21; }
# 20518 "f0021\033[2J<b>=cmd.h"
__device__ int g21(int x) { return x * 22; }
# 21495 "f0022\033[2J<b>=cmd.h"
__device__ int g22(int x) { return x * 23; }
# 22472 "f0023\033[2J<b>=cmd.h"
__device__ int g23(int x) { return x * 24; }
# 23449 "f0024\033[2J<b>=cmd.h"
__device__ int g24(int x) { return x * 25; }
# 24426 "f0025\033[2J<b>=cmd.h"
__device__ int g25(int x) { return x * 26; }
# 25403 "f0026\033[2J<b>=cmd.h"
__device__ int g26(int x) { return x * 27; }
# 26380 "f0027\033[2J<b>=cmd.h"
__device__ int g27(int x) { return x * 28; }
# 27357 "f0028\033[2J<b>=cmd.h"
__device__ int g28(int x) { return x * 29; }
# 28334 "f0029\033[2J<b>=cmd.h"
__device__ int g29(int x) { return x * 30; }
# 29311 "f0030\033[2J<b>=cmd.h"
__device__ int g30(int x) { return x * 31; }
# 30288 "f0031\033[2J<b>=cmd.h"
__device__ int g31(int x) { return x * 32; }
# 31265 "f0032\033[2J<b>=cmd.h"
__device__ int g32(int x) { return x * 33; }
# 32242 "f0033\033[2J<b>=cmd.h"
__device__ int g33(int x) { return x * 34; }
# 33219 "f0034\033[2J<b>=cmd.h"
__device__ int g34(int x) { return x * 35; }
# 34196 "f0035\033[2J<b>=cmd.h"
__device__ int g35(int x) { return x * 36; }
# 35173 "f0036\033[2J<b>=cmd.h"
__device__ int g36(int x) { return x * 37; }
# 36150 "f0037\033[2J<b>=cmd.h"
__device__ int g37(int x) { return x * 38; }
# 37127 "f0038\033[2J<b>=cmd.h"
__device__ int g38(int x) { return x * 39; }
# 38104 "f0039\033[2J<b>=cmd.h"
__device__ int g39(int x) { return x * 40; }
# 39081 "f0040\033[2J<b>=cmd.h"
__device__ int g40(int x) { return x * 41; }
# 40058 "f0041\033[2J<b>=cmd.h"
__device__ int g41(int x) { return x * 42; }
# 41035 "f0042\033[2J<b>=cmd.h"
__device__ int g42(int x) { return x * 43; }
# 42012 "f0043\033[2J<b>=cmd.h"
__device__ int g43(int x) { return x * 44; }
# 42989 "f0044\033[2J<b>=cmd.h"
__device__ int g44(int x) { return x * 45; }
# 43966 "f0045\033[2J<b>=cmd.h"
__device__ int g45(int x) { return x * 46; }
# 44943 "f0046\033[2J<b>=cmd.h"
__device__ int g46(int x) { return x * 47; }
# 45920 "f0047\033[2J<b>=cmd.h"
__device__ int g47(int x) { return x * 48; }
# 46897 "f0048\033[2J<b>=cmd.h"
__device__ int g48(int x) { return x * 49; }
# 47874 "f0049\033[2J<b>=cmd.h"
__device__ int g49(int x) { return x * 50; }
# 48851 "f0050\033[2J<b>=cmd.h"
__device__ int g50(int x) { return x * 51; }
# 49828 "f0051\033[2J<b>=cmd.h"
__device__ int g51(int x) { return x * 52; }
# 50805 "f0052\033[2J<b>=cmd.h"
__device__ int g52(int x) { return x * 53; }
# 51782 "f0053\033[2J<b>=cmd.h"
__device__ int g53(int x) { return x * 54; }
# 52759 "f0054\033[2J<b>=cmd.h"
__device__ int g54(int x) { return x * 55; }
# 53736 "f0055\033[2J<b>=cmd.h"
__device__ int g55(int x) { return x * 56; }
# 54713 "f0056\033[2J<b>=cmd.h"
__device__ int g56(int x) { return x * 57; }
# 55690 "f0057\033[2J<b>=cmd.h"
__device__ int g57(int x) { return x * 58; }
# 56667 "f0058\033[2J<b>=cmd.h"
__device__ int g58(int x) { return x * 59; }
# 57644 "f0059\033[2J<b>=cmd.h"
__device__ int g59(int x) { return x * 60; }
# 58621 "f0060\033[2J<b>=cmd.h"
__device__ int g60(int x) { return x * 61; }
# 59598 "f0061\033[2J<b>=cmd.h"
__device__ int g61(int x) { return x * 62; }
# 60575 "f0062\033[2J<b>=cmd.h"
__device__ int g62(int x) { return x * 63; }
# 61552 "f0063\033[2J<b>=cmd.h"
__device__ int g63(int x) { return x * 64; }
# 62529 "f0064\033[2J<b>=cmd.h"
__device__ int g64(int x) { return x * 65; }
# 63506 "f0065\033[2J<b>=cmd.h"
__device__ int g65(int x) { return x * 66; }
# 64483 "f0066\033[2J<b>=cmd.h"
__device__ int g66(int x) { return x * 67; }
# 65460 "f0067\033[2J<b>=cmd.h"
__device__ int g67(int x) { return x * 68; }
# 66437 "f0068\033[2J<b>=cmd.h"
__device__ int g68(int x) { return x * 69; }
# 67414 "f0069\033[2J<b>=cmd.h"
__device__ int g69(int x) { return x * 70; }
# 68391 "f0070\033[2J<b>=cmd.h"
__device__ int g70(int x) { return x * 71; }
# 69368 "f0071\033[2J<b>=cmd.h"
__device__ int g71(int x) { return x * 72; }
# 70345 "f0072\033[2J<b>=cmd.h"
__device__ int g72(int x) { return x * 73; }
# 71322 "f0073\033[2J<b>=cmd.h"
__device__ int g73(int x) { return x * 74; }
# 72299 "f0074\033[2J<b>=cmd.h"
__device__ int g74(int x) { return x * 75; }
# 73276 "f0075\033[2J<b>=cmd.h"
__device__ int g75(int x) { return x * 76; }
# 74253 "f0076\033[2J<b>=cmd.h"
__device__ int g76(int x) { return x * 77; }
# 75230 "f0077\033[2J<b>=cmd.h"
__device__ int g77(int x) { return x * 78; }
# 76207 "f0078\033[2J<b>=cmd.h"
__device__ int g78(int x) { return x * 79; }
# 77184 "f0079\033[2J<b>=cmd.h"
__device__ int g79(int x) { return x * 80; }
# 78161 "f0080\033[2J<b>=cmd.h"
__device__ int g80(int x) { return x * 81; }
# 79138 "f0081\033[2J<b>=cmd.h"
__device__ int g81(int x) { return x * 82; }
# 80115 "f0082\033[2J<b>=cmd.h"
__device__ int g82(int x) { return x * 83; }
# 81092 "f0083\033[2J<b>=cmd.h"
__device__ int g83(int x) { return x * 84; }
# 82069 "f0084\033[2J<b>=cmd.h"
__device__ int g84(int x) { return x * 85; }
# 83046 "f0085\033[2J<b>=cmd.h"
__device__ int g85(int x) { return x * 86; }
# 84023 "f0086\033[2J<b>=cmd.h"
__device__ int g86(int x) { return x * 87; }
# 85000 "f0087\033[2J<b>=cmd.h"
__device__ int g87(int x) { return x * 88; }
# 85977 "f0088\033[2J<b>=cmd.h"
__device__ int g88(int x) { return x * 89; }
# 86954 "f0089\033[2J<b>=cmd.h"
__device__ int g89(int x) { return x * 90; }
# 87931 "f0090\033[2J<b>=cmd.h"
__device__ int g90(int x) { return x * 91; }
# 88908 "f0091\033[2J<b>=cmd.h"
__device__ int g91(int x) { return x * 92; }
# 89885 "f0092\033[2J<b>=cmd.h"
__device__ int g92(int x) { return x * 93; }
# 90862 "f0093\033[2J<b>=cmd.h"
__device__ int g93(int x) { return x * 94; }
# 91839 "f0094\033[2J<b>=cmd.h"
__device__ int g94(int x) { return x * 95; }
# 92816 "f0095\033[2J<b>=cmd.h"
__device__ int g95(int x) { return x * 96; }
# 93793 "f0096\033[2J<b>=cmd.h"
__device__ int g96(int x) { return x * 97; }
# 94770 "f0097\033[2J<b>=cmd.h"
__device__ int g97(int x) { return x * 98; }
# 95747 "f0098\033[2J<b>=cmd.h"
__device__ int g98(int x) { return x * 99; }
# 96724 "f0099\033[2J<b>=cmd.h"
__device__ int g99(int x) { return x * 100; }
# 97701 "f0100\033[2J<b>=cmd.h"
__device__ int g100(int x) { return x * 101; }
# 98678 "f0101\033[2J<b>=cmd.h"
__device__ int g101(int x) { return x * 102; }
# 99655 "f0102\033[2J<b>=cmd.h"
__device__ int g102(int x) { return x * 103; }
# 100632 "f0103\033[2J<b>=cmd.h"
__device__ int g103(int x) { return x * 104; }
# 101609 "f0104\033[2J<b>=cmd.h"
__device__ int g104(int x) { return x * 105; }
# 102586 "f0105\033[2J<b>=cmd.h"
__device__ int g105(int x) { return x * 106; }
# 103563 "f0106\033[2J<b>=cmd.h"
__device__ int g106(int x) { return x * 107; }
# 104540 "f0107\033[2J<b>=cmd.h"
__device__ int g107(int x) { return x * 108; }
# 105517 "f0108\033[2J<b>=cmd.h"
__device__ int g108(int x) { return x * 109; }
# 106494 "f0109\033[2J<b>=cmd.h"
__device__ int g109(int x) { return x * 110; }
# 107471 "f0110\033[2J<b>=cmd.h"
__device__ int g110(int x) { return x * 111; }
# 108448 "f0111\033[2J<b>=cmd.h"
__device__ int g111(int x) { return x * 112; }
# 109425 "f0112\033[2J<b>=cmd.h"
__device__ int g112(int x) { return x * 113; }
# 110402 "f0113\033[2J<b>=cmd.h"
__device__ int g113(int x) { return x * 114; }
# 111379 "f0114\033[2J<b>=cmd.h"
__device__ int g114(int x) { return x * 115; }
# 112356 "f0115\033[2J<b>=cmd.h"
__device__ int g115(int x) { return x * 116; }
# 113333 "f0116\033[2J<b>=cmd.h"
__device__ int g116(int x) { return x * 117; }
# 114310 "f0117\033[2J<b>=cmd.h"
__device__ int g117(int x) { return x * 118; }
# 115287 "f0118\033[2J<b>=cmd.h"
__device__ int g118(int x) { return x * 119; }
# 116264 "f0119\033[2J<b>=cmd.h"
__device__ int g119(int x) { return x * 120; }
# 117241 "f0120\033[2J<b>=cmd.h"
__device__ int g120(int x) { return x * 121; }
# 118218 "f0121\033[2J<b>=cmd.h"
__device__ int g121(int x) { return x * 122; }
# 119195 "f0122\033[2J<b>=cmd.h"
__device__ int g122(int x) { return x * 123; }
# 120172 "f0123\033[2J<b>=cmd.h"
__device__ int g123(int x) { return x * 124; }
# 121149 "f0124\033[2J<b>=cmd.h"
__device__ int g124(int x) { return x * 125; }
# 122126 "f0125\033[2J<b>=cmd.h"
__device__ int g125(int x) { return x * 126; }
# 123103 "f0126\033[2J<b>=cmd.h"
__device__ int g126(int x) { return x * 127; }
# 124080 "f0127\033[2J<b>=cmd.h"
__device__ int g127(int x) { return x * 128; }
# 125057 "f0128\033[2J<b>=cmd.h"
__device__ int g128(int x) { return x * 129; }
# 126034 "f0129\033[2J<b>=cmd.h"
__device__ int g129(int x) { return x * 130; }
# 127011 "f0130\033[2J<b>=cmd.h"
__device__ int g130(int x) { return x * 131; }
# 127988 "f0131\033[2J<b>=cmd.h"
__device__ int g131(int x) { return x * 132; }
# 128965 "f0132\033[2J<b>=cmd.h"
__device__ int g132(int x) { return x * 133; }
# 129942 "f0133\033[2J<b>=cmd.h"
__device__ int g133(int x) { return x * 134; }
# 130919 "f0134\033[2J<b>=cmd.h"
__device__ int g134(int x) { return x * 135; }
# 131896 "f0135\033[2J<b>=cmd.h"
__device__ int g135(int x) { return x * 136; }
# 132873 "f0136\033[2J<b>=cmd.h"
__device__ int g136(int x) { return x * 137; }
# 133850 "f0137\033[2J<b>=cmd.h"
__device__ int g137(int x) { return x * 138; }
# 134827 "f0138\033[2J<b>=cmd.h"
__device__ int g138(int x) { return x * 139; }
# 135804 "f0139\033[2J<b>=cmd.h"
__device__ int g139(int x) { return x * 140; }
# 136781 "f0140\033[2J<b>=cmd.h"
__device__ int g140(int x) { return x * 141; }
# 137758 "f0141\033[2J<b>=cmd.h"
__device__ int g141(int x) { return x * 142; }
# 138735 "f0142\033[2J<b>=cmd.h"
__device__ int g142(int x) { return x * 143; }
# 139712 "f0143\033[2J<b>=cmd.h"
__device__ int g143(int x) { return x * 144; }
# 140689 "f0144\033[2J<b>=cmd.h"
__device__ int g144(int x) { return x * 145; }
# 141666 "f0145\033[2J<b>=cmd.h"
__device__ int g145(int x) { return x * 146; }
# 142643 "f0146\033[2J<b>=cmd.h"
__device__ int g146(int x) { return x * 147; }
# 143620 "f0147\033[2J<b>=cmd.h"
__device__ int g147(int x) { return x * 148; }
# 144597 "f0148\033[2J<b>=cmd.h"
__device__ int g148(int x) { return x * 149; }
# 145574 "f0149\033[2J<b>=cmd.h"
__device__ int g149(int x) { return x * 150; }
# 1 "plus_one.cu"
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1 + 0 * (g3(i) + g77(i) + g149(i));
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
