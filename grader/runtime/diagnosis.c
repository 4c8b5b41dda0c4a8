/* diagnosis.c — sentences on what is probably wrong with a call: the memory that a pointer leads
 * to, and the kind of copy that fits two pointers. */
#include "grader/runtime/runtime.h"

#include <stdio.h>

/* Finds a buffer of the exercise, which this runtime didn't allocate. */
static bool find_exercise_buffer(const void *p, struct wb_range *out) {
    int error;
    struct wb_rep_range reply;
    const struct wb_session *s = wb_session(&error);
    if (!s || !s->grading || !wb_is_device(p) ||
        wb_request(range, &((struct wb_req_range){(uint64_t)p}), &reply))
        return false;
    *out = (struct wb_range){.start = reply.start, .bytes = reply.bytes, .kind = WB_MEMORY_DEVICE};
    return true;
}

const char *wb_describe_pointer(const void *p, char *out, size_t size) {
    static const char *const kinds[] = {[WB_MEMORY_DEVICE] = "device memory",
                                        [WB_MEMORY_MANAGED] = "managed memory",
                                        [WB_MEMORY_PINNED] = "pinned host memory",
                                        [WB_MEMORY_REGISTERED] = "registered host memory"};
    struct wb_range r;
    bool is_live = wb_range_find(p, &r) || find_exercise_buffer(p, &r),
         was_freed = !is_live && wb_range_find_freed(p, &r);
    uint64_t offset = (uint64_t)p - r.start;
    if (!p) snprintf(out, size, "a null pointer");
    else if (wb_is_device_variable(p, NULL)) snprintf(out, size, "a variable on the device");
    else if (is_live && offset)
        snprintf(out, size, "byte %llu of %llu bytes of %s", (unsigned long long)offset,
                 (unsigned long long)r.bytes, kinds[r.kind]);
    else if (is_live)
        snprintf(out, size, "%llu bytes of %s", (unsigned long long)r.bytes, kinds[r.kind]);
    else if (was_freed) snprintf(out, size, "%s that was freed", kinds[r.kind]);
    else if (wb_is_device(p)) snprintf(out, size, "device memory that is not allocated");
    else if (wb_device_variable_name(p))
        snprintf(out, size, "the host's stand-in for `%.30s` (use the calls for symbols)",
                 wb_device_variable_name(p));
    else snprintf(out, size, "ordinary host memory");
    return out;
}

enum { POINTER_TEXT_BYTES = 112 };

int wb_refuse_pointer(int error, const void *p, const char *advice) {
    char text[POINTER_TEXT_BYTES];
    return wb_refuse(error, "the pointer leads to %s; %s",
                     wb_describe_pointer(p, text, sizeof text), advice);
}

int wb_refuse_copy(int error, const void *to, const void *from, size_t width, size_t rows) {
    char to_text[POINTER_TEXT_BYTES], from_text[POINTER_TEXT_BYTES];
    return wb_refuse(error, "%zu bytes; the destination is %s, the source is %s", width * rows,
                     wb_describe_pointer(to, to_text, sizeof to_text),
                     wb_describe_pointer(from, from_text, sizeof from_text));
}

int wb_refuse_copy_kind(const void *to, const void *from, enum cudaMemcpyKind kind) {
    static const char *const names[2][2] = {{"cudaMemcpyHostToHost", "cudaMemcpyDeviceToHost"},
                                            {"cudaMemcpyHostToDevice", "cudaMemcpyDeviceToDevice"}};
    char to_text[POINTER_TEXT_BYTES], from_text[POINTER_TEXT_BYTES];
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice,
         from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    bool is_swapped = to_device != from_device && wb_is_device(to) == from_device &&
                      wb_is_device(from) == to_device;
    return wb_refuse(cudaErrorInvalidValue,
                     "the kind is %s, but the destination is %s and the source is %s; %s%s",
                     names[to_device][from_device],
                     wb_describe_pointer(to, to_text, sizeof to_text),
                     wb_describe_pointer(from, from_text, sizeof from_text),
                     is_swapped ? "the destination comes first: swap the pointers, or use "
                                : "the kind that fits them is ",
                     names[wb_is_device(to)][wb_is_device(from)]);
}
