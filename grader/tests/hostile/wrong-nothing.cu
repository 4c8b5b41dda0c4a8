// WA* | 16 | does nothing and hopes for stale output | launched no kernel
extern "C" void plus_one(int *out, const int *in, int n) {

}
