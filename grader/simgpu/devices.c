/* devices.c — `simgpu devices [NAME]`: lists the devices, or all parameters of one. main.c calls
 * it. */
#include "grader/simgpu/simgpu.h"

/* Prints every parameter of a device with its source. */
static int describe_device(const char *name) {
    const struct gpu_device *d = device_find(name);
    struct device_spec f;
    if (!d)
        return fprintf(stderr, "simgpu devices: unknown device %s: `simgpu devices` lists all\n",
                       name),
               2;
    printf("%s: %s, compute capability %u.%u\n", d->name, d->full_name, d->cc_major, d->cc_minor);
    for (unsigned i = 0; device_spec(d, i, &f); i++)
        printf("  %-34s %14.10g  %s\n", f.name, f.value, f.source);
    return 0;
}

int devices_main(int argc, char **argv) {
    if (argc > 1) return fprintf(stderr, "usage: simgpu devices [NAME]\n"), 2;
    if (argc) return describe_device(argv[0]);
    printf("%-10s %-28s %5s %4s %8s %10s %10s %11s  %s\n", "name", "device", "cc", "SMs", "clock",
           "L2", "memory", "bandwidth", "time model");
    for (unsigned i = 0; device_at(i); i++) {
        const struct gpu_device *d = device_at(i);
        printf("%-10s %-28s %3u.%u %4u %4.0f MHz %6.1f MiB %6.0f GiB %6.2f TB/s  %s\n", d->name,
               d->full_name, d->cc_major, d->cc_minor, d->sms, d->clock_hz * 1e-6,
               (double)d->l2_bytes / (1 << 20), (double)d->dram_bytes / (1 << 30),
               d->dram_rate * 1e-12, device_is_measured(d) ? "measured" : "not measured");
    }
    printf("\n`simgpu devices NAME` lists all parameters of a device with their sources.\n");
    return 0;
}
