// Forces between bodies that are near: each lane takes another way, a third of the time.
extern "C" __global__ void nbody(const float4 *body, float4 *force, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 me = body[i];
    float fx = 0, fy = 0, fz = 0;
    for (int j = 0; j < n; j++) {
        float4 o = body[j];
        float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z, r2 = dx * dx + dy * dy + dz * dz;
        if (r2 > 0.4f || j == i) continue; // too far
        float s = o.w / (r2 + 0.01f);
        if (r2 < 0.1f) s = s * s; // close: another law
        fx += dx * s;
        fy += dy * s;
        fz += dz * s;
    }
    force[i] = make_float4(fx, fy, fz, 0);
}
