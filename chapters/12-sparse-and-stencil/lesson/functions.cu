// What lesson 12 shows of functions: what each takes, for 1024 elements.

#define KERNEL(name, value)                                              \
    extern "C" __global__ void name(float *out, const float *in) {       \
        float x = in[blockIdx.x * 128 + threadIdx.x];                    \
        out[blockIdx.x * 128 + threadIdx.x] = value;                     \
    }

KERNEL(nothing, x)
KERNEL(in_double, 1.0 / (1.0 + x * x)) // 1.0 is a double, so the sum and the quotient are doubles, too
KERNEL(in_float, 1 / (1 + x * x))      // an integer constant becomes a float
KERNEL(power, powf(x, 2))
KERNEL(product, x * x)
KERNEL(exponential, expf(x))
KERNEL(fast_exponential, __expf(x))
KERNEL(sine, sinf(x))
KERNEL(fast_sine, __sinf(x))
KERNEL(tangent, tanhf(x))

int main() {
    enum { N = 1024 };
    float *out, *in;
    cudaMalloc(&out, N * sizeof *out), cudaMalloc(&in, N * sizeof *in);
    cudaMemset(in, 0, N * sizeof *in);
    nothing<<<N / 128, 128>>>(out, in);
    in_double<<<N / 128, 128>>>(out, in);
    in_float<<<N / 128, 128>>>(out, in);
    power<<<N / 128, 128>>>(out, in);
    product<<<N / 128, 128>>>(out, in);
    exponential<<<N / 128, 128>>>(out, in);
    fast_exponential<<<N / 128, 128>>>(out, in);
    sine<<<N / 128, 128>>>(out, in);
    fast_sine<<<N / 128, 128>>>(out, in);
    tangent<<<N / 128, 128>>>(out, in);
    return cudaDeviceSynchronize();
}
