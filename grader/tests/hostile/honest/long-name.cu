// AC | - | a kernel whose name has three thousand characters, by templates | 
template <class A, class B> struct pair_of {};
template <int N> struct tower { typedef pair_of<typename tower<N - 1>::type, int[N]> type; };
template <> struct tower<0> { typedef int type; };
struct a_name_of_some_length_that_is_repeated_in_each_argument {};
template <class... T> __global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<tower<200>::type, a_name_of_some_length_that_is_repeated_in_each_argument><<<(n + 255) / 256, 256>>>(out, in, n);
}
