/* run_options.c — the options of `simgpu run`. See run_options.h. */
#include "grader/simgpu/run_options.h"
#include "common/text.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const char simgpu_run_usage[] =
    "usage: simgpu run [options] PROGRAM ARGS...\n"
    "  --device NAME           the device to simulate (default: h200; see `simgpu devices`)\n"
    "  --devices N             number of such devices that the program finds, 1 to 8 (default: 1)\n"
    "  --time                  print each kernel's modelled time and what limits it\n"
    "  --machine-code FILE     with --time: use nvdisasm's listing of the program's one CUDA file "
    "(docs/time-model.md)\n"
    "  --cold-caches           with --time: start every launch with an empty L2\n"
    "  --counters text|json    print each kernel's counters, in total and by source line\n"
    "  --report FILE.html      write one self-contained page: times, access patterns, hot lines\n"
    "  --pictures FOLDER       draw the access patterns of lines that end in "
    "`// picture: NAME load` as NAME.svg "
    "(docs/simgpu.md)\n"
    "  --counters-file FILE    write the counters there (default: standard error)\n"
    "  --workers N             number of simulation threads (default: one per core)\n"
    "  --no-sanitize           don't check for races and uninitialized reads\n"
    "  --native                compile each kernel to native code before its first launch\n"
    "  --no-native             compile none (default: those of long launches, meanwhile)\n"
    "  --sample                run only part of each large launch's blocks: counters and times "
    "are\n"
    "                          scaled, results are not computed\n"
    "  --repeats execute       run launches again that change nothing (default: skip them)\n"
    "  --ptx-counters          count PTX instructions, before ptxas merges any (docs/counters.md)\n"
    "  --error-exitcode N      exit with N if the program succeeds but something was reported\n"
    "  --leaks                 report device memory that the program did not free\n"
    "  --schedule hostile      split warps after divergence wherever hardware may\n"
    "  --memory-model hardware accept orders that GPUs keep but PTX does not promise\n"
    "  --memory MIB            host memory that the simulation may use (default: most of what "
    "is free)\n"
    "  --timeout SECONDS       wall-clock limit for one kernel (default: 60)\n"
    "  --budget N              limit of warp instructions for one kernel (default: none)\n";

static bool parse_number(const char *text, double low, double high, double *out) {
    char *end;
    *out = strtod(text, &end);
    return *text && !*end && *out >= low && *out <= high;
}

static bool refuse_option(const char *name, struct err *e) {
    char nearest[64];
    bool is_near = text_nearest(name, simgpu_run_usage, nearest, sizeof nearest);
    return err_set(e, ERR_INPUT, "unknown option '%.60s'%s%s%s (see: simgpu run --help)", name,
                   is_near ? "; did you mean " : "", is_near ? nearest : "", is_near ? "?" : "");
}

/* Options that take a word: `word` sets the bool at `offset`, `usual` clears it. */
static const struct {
    const char *name, *word, *usual;
    size_t offset;
} choice_options[] = {
    {"--schedule", "hostile", "usual", offsetof(struct run_options, adversarial_schedule)},
    {"--repeats", "execute", "skip", offsetof(struct run_options, execute_repeats)},
    {"--memory-model", "hardware", "ptx", offsetof(struct run_options, hardware_order)}};

static const struct {
    const char *name;
    size_t offset; /* of a const char * */
} text_options[] = {{"--counters-file", offsetof(struct run_options, counters_file)},
                    {"--machine-code", offsetof(struct run_options, listing)},
                    {"--report", offsetof(struct run_options, report)},
                    {"--pictures", offsetof(struct run_options, pictures)},
                    {"--device", offsetof(struct run_options, device)}};

enum number_option { WORKERS, DEVICES, MEMORY, BUDGET, TIMEOUT, ERROR_EXITCODE };
static const struct {
    const char *name;
    double low, high;
    const char *expected;
} number_options[] = {
    [WORKERS] = {"--workers", 1, 256, "a number from 1 to 256"},
    [DEVICES] = {"--devices", 1, SIM_MAX_DEVICES, "a number from 1 to 8"},
    [MEMORY] = {"--memory", 1, 1 << 24, "MiB, from 1 to 16777216"},
    [BUDGET] = {"--budget", 1, 1e18, "a number, at least 1"},
    [TIMEOUT] = {"--timeout", 0.001, 1e6, "seconds, more than 0"},
    [ERROR_EXITCODE] = {"--error-exitcode", 1, 255, "a number from 1 to 255"},
};

static void set_number(struct run_options *o, enum number_option option, double number) {
    switch (option) {
    case WORKERS: o->workers = (unsigned)number; break;
    case DEVICES: o->devices = (unsigned)number; break;
    case MEMORY: o->memory = (uint64_t)number << 20; break;
    case BUDGET: o->budget = (uint64_t)number; break;
    case TIMEOUT: o->timeout = number; break;
    case ERROR_EXITCODE: o->error_exitcode = (int)number; break;
    }
}

static bool set_counters(struct run_options *o, const char *value, struct err *e) {
    if (!strcmp(value, "text")) o->counters = COUNTERS_TEXT;
    else if (!strcmp(value, "json")) o->counters = COUNTERS_JSON;
    else return err_set(e, ERR_INPUT, "--counters %s: expected text or json", value);
    return true;
}

#define COUNT_OF(rows) (sizeof(rows) / sizeof *(rows))

static bool set_option(struct run_options *o, const char *name, const char *value, struct err *e) {
    if (!strcmp(name, "--counters")) return set_counters(o, value, e);
    for (size_t i = 0; i < COUNT_OF(text_options); i++)
        if (!strcmp(name, text_options[i].name)) {
            *(const char **)((char *)o + text_options[i].offset) = value;
            return true;
        }
    for (size_t i = 0; i < COUNT_OF(choice_options); i++) {
        if (strcmp(name, choice_options[i].name)) continue;
        bool is_word = !strcmp(value, choice_options[i].word);
        *(bool *)((char *)o + choice_options[i].offset) = is_word;
        return is_word || !strcmp(value, choice_options[i].usual) ||
               err_set(e, ERR_INPUT, "%s %s: expected %s or %s", name, value,
                       choice_options[i].usual, choice_options[i].word);
    }
    for (size_t i = 0; i < COUNT_OF(number_options); i++) {
        double number;
        if (strcmp(name, number_options[i].name)) continue;
        if (!parse_number(value, number_options[i].low, number_options[i].high, &number))
            return err_set(e, ERR_INPUT, "%s %s: expected %s", name, value,
                           number_options[i].expected);
        set_number(o, (enum number_option)i, number);
        return true;
    }
    return refuse_option(name, e);
}

int simgpu_parse_run_options(struct run_options *o, int argc, char **argv, struct err *e) {
    int i = 0;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (!strcmp(argv[i], "--")) return i + 1;
        if (!strcmp(argv[i], "--time")) o->time = true;
        else if (!strcmp(argv[i], "--cold-caches")) o->cold_caches = true;
        else if (!strcmp(argv[i], "--no-sanitize")) o->sanitize = false;
        else if (!strcmp(argv[i], "--native")) o->native = SIM_NATIVE_BEFORE_LAUNCH;
        else if (!strcmp(argv[i], "--no-native")) o->native = SIM_NATIVE_NEVER;
        else if (!strcmp(argv[i], "--sample")) o->sample = true, o->sanitize = false;
        else if (!strcmp(argv[i], "--ptx-counters")) o->ptx_counters = true;
        else if (!strcmp(argv[i], "--leaks")) o->report_leaks = true;
        else if (i + 1 == argc)
            return strstr(simgpu_run_usage, argv[i])
                       ? err_set(e, ERR_INPUT, "%s needs a value", argv[i])
                       : refuse_option(argv[i], e),
                   argc;
        else if (!set_option(o, argv[i], argv[i + 1], e)) return argc;
        else i++;
    }
    return i;
}

bool simgpu_check_sample_options(const struct run_options *o, struct err *e) {
    const char *excluded = o->adversarial_schedule                 ? "--schedule hostile"
                           : o->hardware_order                     ? "--memory-model hardware"
                           : o->native == SIM_NATIVE_BEFORE_LAUNCH ? "--native"
                                                                   : NULL;
    if (!o->sample) return true;
    if (excluded)
        return err_set(e, ERR_INPUT,
                       "--sample with %s: a sample computes no results and checks no races, and "
                       "only the interpreter runs it: leave one out",
                       excluded);
    return o->time || o->counters || o->report || o->pictures ||
           err_set(e, ERR_INPUT,
                   "--sample computes no results: add --time, --counters, --report or --pictures");
}
