/* options.c — see options.h. */
#include "grader/cli/options.h"
#include "grader/grade/gpu_device.h"
#include "common/text.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static const char usage_text[] =
    "usage: grader COMMAND [EXERCISE...] [options]\n"
    "\n"
    "  begin DIR             a folder of your own with the skeletons and lessons; again: what is "
    "new in the book\n"
    "  list                  chapters, exercises, progress\n"
    "  run [EXERCISE...]     build, check, count, time; all exercises if none is named\n"
    "  profile EXERCISE      your source, line by line, with what each line costs\n"
    "  report EXERCISE       the report as a page, with pictures; says where it is; or --output\n"
    "  quiz CHAPTER          questions, to be answered before the lesson is read\n"
    "  tune EXERCISE         try the parameters that the file declares (// tune: TILE 16 32); "
    "table, page, best\n"
    "  vendor EXERCISE       the model answer beside CUB and cuBLAS, where they do the job\n"
    "  hint EXERCISE         the next hint\n"
    "  solution EXERCISE     the model answer and the steps that lead to it\n"
    "  reset EXERCISE        the skeleton as it came; your version is kept beside it\n"
    "  watch [EXERCISE]      grade at every save\n"
    "  intake DIR...         what a class handed in: what is taken, what is left out, and why\n"
    "  batch DIR...          grade a class of submissions: folders, archives, an LMS's export\n"
    "  export STORE          the gradebook again; --format text, csv, nbgrader, totals, json, "
    "junit or tap\n"
    "  stats STORE           verdicts, scores, what fails most; --format html as a page with "
    "pictures\n"
    "  feedback STORE FOLDER pages for each student, HTML and Markdown\n"
    "  reproduce STORE STUDENT EXERCISE    grade it again: is it the same?\n"
    "  regrade STORE         with another --seed; --diff only says what would change\n"
    "  gradescope HW.toml    a whole autograder for Gradescope; with --output autograder.zip\n"
    "  autograde FOLDER      what that runs: grades FOLDER/submission, writes "
    "FOLDER/results/results.json; with "
    "--assignment\n"
    "  similar DIR|STORE     which submissions have passages in common; pages into --output "
    "FOLDER\n"
    "  merge STORE FROM...   the results of other stores, such as of shards, into this one\n"
    "  verify [EXERCISE...]  is the book in order?\n"
    "  figures [EXERCISE...] what scores need of the answers, for a student's release\n"
    "  new CHAPTER/EXERCISE  a small exercise to be made into a new one\n"
    "  selftest              is this machine fit to measure? with --device gpu\n"
    "  gpu-report FOLDER [EXERCISE…]\n"
    "                        all that has a GPU as its subject, into a folder; with --device gpu\n"
    "  gpu-build [CC]        compile what gpu-report wants, to be carried to a machine without a "
    "compiler\n"
    "\n"
    "EXERCISE is 02-coalescing/transpose, coalescing/transpose, transpose, or a chapter such as "
    "02-coalescing.\n"
    "\n"
    "  --file F.cu           grade this file instead of the one in chapters/\n"
    "  --device DEVICE       sim (= sim:h200), sim:NAME or gpu; may be given several times\n"
    "  --seed TEXT           the same seed gives the same inputs and the same report, byte for "
    "byte\n"
    "  --format FORMAT       text, json; gradescope, classroom for run; csv, nbgrader, totals, "
    "junit, tap for batch, "
    "export\n"
    "  --output F            write the report to F\n"
    "  --no-modelled-speed   leave a modelled speed out of the score\n"
    "  --case N              run: this case alone, as the report numbers them; no points\n"
    "  --threads N           threads of the simulated GPU\n"
    "  --jobs N              submissions or exercises graded at the same time\n"
    "  --exercise E          batch, intake: only this exercise\n"
    "  --store F.db          batch, intake: keep everything in F.db, and do only what is not done "
    "yet\n"
    "  --roster F.csv        batch, intake: who should have handed in; one who did not is missing\n"
    "  --layout L            batch, intake: folders, canvas, moodle, gradescope or github; else by "
    "the names\n"
    "  --assignment F.toml   batch, intake, reproduce, regrade: exercises, weights, deadline, "
    "hidden cases, seed and "
    "device\n"
    "  --dry-run             intake: say what is there, keep nothing\n"
    "  --shard K/N           batch: only the K-th of N parts\n"
    "  --answers A,B,...     quiz: the answers, such as 8,b,0.5; without it the terminal is asked\n"
    "  --all                 hint: all hints seen so far; profile: all lines, all columns\n"
    "  --working-tree        verify: take skeletons from chapters/ as they are, not from the last "
    "commit\n"
    "  --quick               verify: skeletons and answers alone, no step, mutant or cheat\n"
    "  --verbose             run: say what the time model costs, on standard error; with one "
    "exercise\n"
    "  --machine-code        run: model times from what ptxas makes, not from PTX; needs nvdisasm\n"
    "  --version             which grader, book and compiler this is\n"
    "  --no-jail             run code without protection; the report says so\n"
    "\n"
    "Exit status: 0 all passed, 1 some did not, 2 wrong usage, 3 the grader could not grade.\n";

const char *options_usage(void) { return usage_text; }

enum {
    OPT_FILE = 256,
    OPT_DEVICE,
    OPT_SEED,
    OPT_FORMAT,
    OPT_OUTPUT,
    OPT_MODELLED_SPEED,
    OPT_NO_MODELLED_SPEED,
    OPT_THREADS,
    OPT_JOBS,
    OPT_WORKING_TREE,
    OPT_QUICK,
    OPT_NO_JAIL,
    OPT_MACHINE_CODE,
    OPT_ALL,
    OPT_VERBOSE,
    OPT_CASE,
    OPT_EXERCISE,
    OPT_STORE,
    OPT_ROSTER,
    OPT_LAYOUT,
    OPT_DRY_RUN,
    OPT_SHARD,
    OPT_DIFF,
    OPT_ANSWERS,
    OPT_ASSIGNMENT,
    OPT_VERSION
};

static const struct option long_options[] = {
    {"file", required_argument, NULL, OPT_FILE},
    {"device", required_argument, NULL, OPT_DEVICE},
    {"seed", required_argument, NULL, OPT_SEED},
    {"format", required_argument, NULL, OPT_FORMAT},
    {"output", required_argument, NULL, OPT_OUTPUT},
    {"no-modelled-speed", no_argument, NULL, OPT_NO_MODELLED_SPEED},
    {"count-modelled-speed", no_argument, NULL,
     OPT_MODELLED_SPEED}, /* once an option, now the rule */
    {"threads", required_argument, NULL, OPT_THREADS},
    {"jobs", required_argument, NULL, OPT_JOBS},
    {"working-tree", no_argument, NULL, OPT_WORKING_TREE},
    {"quick", no_argument, NULL, OPT_QUICK},
    {"no-jail", no_argument, NULL, OPT_NO_JAIL},
    {"machine-code", no_argument, NULL, OPT_MACHINE_CODE},
    {"all", no_argument, NULL, OPT_ALL},
    {"verbose", no_argument, NULL, OPT_VERBOSE},
    {"exercise", required_argument, NULL, OPT_EXERCISE},
    {"case", required_argument, NULL, OPT_CASE},
    {"store", required_argument, NULL, OPT_STORE},
    {"roster", required_argument, NULL, OPT_ROSTER},
    {"layout", required_argument, NULL, OPT_LAYOUT},
    {"dry-run", no_argument, NULL, OPT_DRY_RUN},
    {"shard", required_argument, NULL, OPT_SHARD},
    {"assignment", required_argument, NULL, OPT_ASSIGNMENT},
    {"diff", no_argument, NULL, OPT_DIFF},
    {"answers", required_argument, NULL, OPT_ANSWERS},
    {"version", no_argument, NULL, OPT_VERSION},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

bool options_add_device(struct options *o, const char *s, struct err *e) {
    if (o->ndevices == MAX_DEVICES)
        return err_set(e, ERR_INPUT, "more than %d devices", MAX_DEVICES);
    const char *name = !strcmp(s, "sim") ? "h200" : text_starts_with(s, "sim:") ? s + 4 : NULL;
    bool is_gpu = !strcmp(s, "gpu");
    o->has_device = true;
    const struct gpu_device *d = is_gpu ? gpu_device_present(e) : name ? device_find(name) : NULL;
    if (d) o->devices[o->ndevices++] = d;
    if (d || is_gpu) return d;
    struct buf list = {0};
    for (unsigned i = 0; device_at(i); i++) buf_printf(&list, " sim:%s", device_at(i)->name);
    err_set(e, ERR_INPUT, "--device '%.60s' is unknown; there are: sim%s", s, buf_str(&list));
    buf_free(&list);
    return false;
}

static bool parse_number(const char *option, const char *s, unsigned *out, struct err *e) {
    char *end;
    unsigned long v = strtoul(s, &end, 10);
    if (*s < '0' || *s > '9' || *end || v < 1 || v > 256)
        return err_set(e, ERR_INPUT, "--%s takes a number from 1 to 256, not '%.40s'", option, s);
    *out = (unsigned)v;
    return true;
}

static bool parse_format(struct options *o, const char *s, struct err *e) {
    static const char *const names[] = {[FORMAT_TEXT] = "text",
                                        [FORMAT_JSON] = "json",
                                        [FORMAT_CSV] = "csv",
                                        [FORMAT_GRADESCOPE] = "gradescope",
                                        [FORMAT_JUNIT] = "junit",
                                        [FORMAT_TAP] = "tap",
                                        [FORMAT_NBGRADER] = "nbgrader",
                                        [FORMAT_TOTALS] = "totals",
                                        [FORMAT_CLASSROOM] = "classroom",
                                        [FORMAT_HTML] = "html"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(s, names[i])) return o->format = (enum report_format)i, true;
    return err_set(e, ERR_INPUT,
                   "--format '%.40s' is unknown; there are text, json, gradescope, classroom "
                   "(run), and csv, nbgrader, "
                   "totals, junit, tap"
                   " (batch, export)",
                   s);
}

static bool parse_seed(struct options *o, const char *s, struct err *e) {
    if (!*s || strlen(s) >= sizeof o->seed)
        return err_set(e, ERR_INPUT, "--seed takes 1 to %zu characters", sizeof o->seed - 1);
    strcpy(o->seed, s);
    return o->has_seed = true;
}

static bool parse_layout(struct options *o, const char *s, struct err *e) {
    return plan_parse_layout(s, &o->layout) ||
           err_set(e, ERR_INPUT,
                   "--layout '%.40s' is unknown; there are folders, canvas, moodle, gradescope, "
                   "github and auto",
                   s);
}

static bool parse_shard(struct options *o, const char *s, struct err *e) {
    char rest;
    return (sscanf(s, "%u/%u%c", &o->shard_number, &o->shard_count, &rest) == 2 &&
            o->shard_number >= 1 && o->shard_number <= o->shard_count) ||
           err_set(e, ERR_INPUT, "--shard takes K/N with K from 1 to N, not '%.40s'", s);
}

static bool apply_option(struct options *o, int option, struct err *e) {
    switch (option) {
    case OPT_FILE: o->file = optarg; return true;
    case OPT_EXERCISE: o->exercise = optarg; return true;
    case OPT_OUTPUT: o->output = optarg; return true;
    case OPT_MODELLED_SPEED: return o->ignore_modelled_speed = false, true;
    case OPT_NO_MODELLED_SPEED: return o->ignore_modelled_speed = true;
    case OPT_CASE: return parse_number("case", optarg, &o->only_case, e);
    case OPT_WORKING_TREE: return o->working_tree = true;
    case OPT_QUICK: return o->quick = true;
    case OPT_NO_JAIL: return o->no_jail = true;
    case OPT_MACHINE_CODE: return o->machine_code = true;
    case OPT_ALL: return o->all = true;
    case OPT_VERBOSE: return o->verbose = true;
    case OPT_DEVICE: return options_add_device(o, optarg, e);
    case OPT_SEED: return parse_seed(o, optarg, e);
    case OPT_FORMAT: return parse_format(o, optarg, e);
    case OPT_THREADS: return parse_number("threads", optarg, &o->workers, e);
    case OPT_JOBS: return parse_number("jobs", optarg, &o->jobs, e);
    case OPT_STORE: o->store = optarg; return true;
    case OPT_ROSTER: o->roster = optarg; return true;
    case OPT_ANSWERS: o->answers = optarg; return true;
    case OPT_LAYOUT: return parse_layout(o, optarg, e);
    case OPT_SHARD: return parse_shard(o, optarg, e);
    case OPT_ASSIGNMENT: o->assignment_path = optarg; return true;
    case OPT_DRY_RUN: return o->dry_run = true;
    case OPT_DIFF: return o->diff = true;
    case OPT_VERSION: return o->version = true;
    case 'h': return o->help = true;
    default: return err_set(e, ERR_INTERNAL, "option %d", option);
    }
}

static void generate_seed(struct options *o) {
    unsigned char bytes[16];
    if (o->seed[0]) return;
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        die("the system gives no random numbers");
    for (unsigned i = 0; i < sizeof bytes; i++) sprintf(o->seed + 2 * i, "%02x", bytes[i]);
}

bool options_parse(struct options *o, int argc, char **argv, struct err *e) {
    *o = (struct options){0};
    opterr = 0;
    for (int gencode_flag;
         (gencode_flag = getopt_long(argc, argv, "h", long_options, NULL)) != -1;) {
        if (gencode_flag == '?')
            return err_set(e, ERR_INPUT, "option '%.60s' is unknown or lacks its value",
                           argv[optind - 1]);
        if (!apply_option(o, gencode_flag, e)) return false;
    }
    if (!o->ndevices) o->devices[o->ndevices++] = device_find("h200");
    if (!o->devices[0]) die("the default device h200 is missing");
    generate_seed(o);
    if (optind < argc) o->command = argv[optind++];
    o->operands = (const char *const *)argv + optind;
    o->noperands = (unsigned)(argc - optind);
    if (o->help || o->version || o->command) return true;
    return err_set(e, ERR_INPUT, "no command given");
}

struct grade_options options_to_grade_options(const struct options *o, const struct gpu_device *d) {
    return (struct grade_options){.device = d,
                                  .seed = o->seed,
                                  .workers = o->workers,
                                  .count_modelled = !o->ignore_modelled_speed,
                                  .prefetch_inputs = true,
                                  .only_case = o->only_case};
}
