/* options.c — parses the grader's command line; options.h describes the result. */
#include "grader/cli/options.h"
#include "grader/class/decision.h"
#include "grader/grade/gpu_device.h"
#include "common/text.h"

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static const char usage_text[] =
    "usage: grader COMMAND [ARGUMENT...] [OPTION...]\n"
    "\n"
    "Work on exercises\n"
    "  begin DIR              create your workspace in DIR, or bring it up to date\n"
    "  list [EXERCISE...]     show the exercises and your progress\n"
    "  run [EXERCISE...]      build, check, count and time; without a name, what you edited\n"
    "  watch [EXERCISE]       grade whenever you save the file\n"
    "  serve                  show the workbook in a browser: edit, results at each save\n"
    "  quiz CHAPTER           answer the chapter's questions before you read the lesson\n"
    "  hint EXERCISE          show the next hint\n"
    "  solution EXERCISE      show the model solution and the steps that lead to it\n"
    "  reset EXERCISE         restore the starter file; a backup keeps your version\n"
    "\n"
    "Look closer\n"
    "  profile EXERCISE       show what each line of your source costs\n"
    "  report EXERCISE        write the report as a page with pictures\n"
    "  tune EXERCISE          time each value that your file declares (// tune: TILE 16 32)\n"
    "  vendor EXERCISE        compare the model solution with CUB and cuBLAS\n"
    "  cache                  show the cache's size and limit; cache clear empties it\n"
    "\n"
    "Grade a class\n"
    "  intake DIR...          show which submissions are taken, left out or unclear, and why\n"
    "  batch DIR...           grade folders, archives or the export of an LMS\n"
    "  export STORE           write the gradebook again, without grading\n"
    "  stats STORE            show verdicts, scores and the most frequent failures\n"
    "  leaderboard STORE      write a page that ranks the students; --anonymous: pseudonyms\n"
    "  feedback STORE DIR     write pages for each student, HTML and Markdown; for an LMS, a zip\n"
    "  decide STORE [STUDENT [EXERCISE]]\n"
    "                         set a score, excuse, extend a deadline, comment; show the history\n"
    "  forget STORE STUDENT   remove all that the store has of a student\n"
    "  anonymize STORE COPY   copy a store with pseudonyms and without sources\n"
    "  similar STORE|DIR...   find submissions that share passages; --output DIR writes pages\n"
    "  compare OLD NEW        show whose grade differs between two stores, and what changed\n"
    "  reproduce STORE STUDENT EXERCISE\n"
    "                         grade a submission again and compare the results\n"
    "  regrade STORE          grade everything again with another --seed\n"
    "  merge STORE FROM...    add the results of other stores, such as shards, to STORE\n"
    "  gradescope HW.toml     package an autograder for Gradescope; needs --output F.zip\n"
    "  autograde DIR          grade one submission there; the package runs this command\n"
    "\n"
    "Maintain the book\n"
    "  vary EXERCISE          write a verified variant for an exam, by --seed, to --output DIR\n"
    "  verify [EXERCISE...]   check starter files, model solutions, mutants and lessons\n"
    "  new CHAPTER/EXERCISE   create a small exercise that you change into a new one\n"
    "  figures [EXERCISE...]  record what the model solutions and baselines give\n"
    "  selftest [EXERCISE...] check that this machine measures reliably; needs --device gpu\n"
    "  gpu-report DIR [EXERCISE...]\n"
    "                         run every version on a GPU and write tables; needs --device gpu\n"
    "  gpu-build [CC]         compile for gpu-report on a machine without a compiler\n"
    "  completion SHELL       print a completion script for bash or zsh\n"
    "\n"
    "EXERCISE is a name such as transpose, coalescing/transpose or 02-coalescing/transpose.\n"
    "Where a command takes several, 02-coalescing stands for all exercises of that chapter.\n"
    "\n"
    "Options for grading\n"
    "  --file F.cu            grade F.cu instead of your file\n"
    "  --device DEVICE        sim (the same as sim:h200), sim:NAME or gpu; repeat it to compare\n"
    "  --seed TEXT            draw inputs from TEXT; the same seed gives the same report\n"
    "  --no-cache             grade again, even if the same file was graded before\n"
    "  --case N               run: only case N, numbered as in the report; scores no points\n"
    "  --no-modelled-speed    leave modelled times out of the score\n"
    "  --machine-code         run: model times from machine code, not PTX; needs nvdisasm\n"
    "  --empty-caches         run: model each kernel with empty caches, as Nsight Compute runs "
    "it;\n"
    "                         such times don't count\n"
    "  --threads N            threads of the simulated GPU\n"
    "  --jobs N               number of exercises or submissions to grade at the same time\n"
    "  --no-jail              run without the sandbox; the report says so\n"
    "\n"
    "Options for output\n"
    "  --output F             write to F instead of standard output\n"
    "  --format FORMAT        text or json; for run also gradescope, classroom or autolab; for\n"
    "                         intake csv; for batch and export csv, nbgrader, totals, junit or "
    "tap;\n"
    "                         for export moodle, canvas, blackboard or brightspace; for feedback\n"
    "                         moodle or canvas; for stats html\n"
    "  --all                  run: untouched files, too; hint: all hints seen so far;\n"
    "                         profile: all lines and columns\n"
    "  --path NAME            list: follow a path through the book, such as beginner; book ends "
    "it\n"
    "  --answers A,B,...      quiz: your answers, such as 8,b,0.5, instead of prompts\n"
    "  --export FORMAT        quiz: write questions and answers for an LMS: gift (Moodle) or qti\n"
    "                         (Canvas), to --output F; without a chapter, all chapters\n"
    "  --verbose              run: the sandbox, and for one exercise the time model's cost;\n"
    "                         verify: the score and time of each version\n"
    "\n"
    "Options for serve\n"
    "  --open                 open the browser, too\n"
    "  --listen ADDRESS:PORT  instead of 127.0.0.1 and a free port\n"
    "  --origin URL           the address under which a proxy shows the server\n"
    "  --class F.db           show a class's store for teaching assistants, not the workbook\n"
    "  --author NAME          with --class: who decides at the printed address\n"
    "  --tokens F             with --class: lines TOKEN ROLE NAME; read, decide or student\n"
    "  --anonymous            with --class, and for leaderboard: pseudonyms instead of names\n"
    "  --against STORE|DIR    with --class: as for similar\n"
    "\n"
    "Options for a class\n"
    "  --assignment F.toml    exercises, weights, deadline, hidden cases, seed and device\n"
    "  --store F.db|URL       intake, batch: keep everything there, grade what is missing\n"
    "  --roster F.csv         the students; those who handed in nothing are missing\n"
    "  --exercise EXERCISE    take and grade only this exercise\n"
    "  --worksheet F.csv      export: the LMS's file, into which to fill the grades\n"
    "  --column TEXT          export: how its column begins; default: the assignment's name\n"
    "  --against STORE|DIR    similar: compare with an earlier year's store, or with all sources\n"
    "                         in a folder, such as public solutions; repeat it\n"
    "  --layout LAYOUT        folders, canvas, moodle, blackboard, brightspace, sakai, gradescope\n"
    "                         or github; default: each entry's own\n"
    "  --accept-unclear       batch: grade the others although many submissions are unclear\n"
    "  --complete             intake, batch: the paths hold all submissions; what they lack is\n"
    "                         missing, whatever the store has\n"
    "  --shard K/N            batch: grade only the K-th of N parts\n"
    "  --score N, --excused yes, --deadline TIME, --comment TEXT [--line N]\n"
    "                         decide: what to decide; - withdraws it\n"
    "  --partner STUDENT      decide: this student's submission counts for the other one, too\n"
    "  --moderated yes, --blind-score N\n"
    "                         decide: two people score it blind, and one of these scores\n"
    "  --request TEXT, --answer TEXT\n"
    "                         decide: a student asks to grade again, and the answer\n"
    "  --reason TEXT, --author NAME\n"
    "                         decide: why, and who decides\n"
    "  --dry-run              intake: report only, store nothing\n"
    "  --diff                 regrade: show what would change, and change nothing\n"
    "\n"
    "Options for maintainers\n"
    "  --working-tree         verify: starter files as they are, not of the last commit\n"
    "  --quick                verify: only starter files and model solutions\n"
    "\n"
    "  --help                 show this text\n"
    "  --version              show the versions of the grader, the book and the compiler\n"
    "\n"
    "Exit status: 0 all accepted, 1 some not accepted, 2 wrong usage, 3 the grader failed.\n";

const char *options_usage(void) { return usage_text; }

bool options_add_device(struct options *o, const char *s, struct err *e) {
    if (o->ndevices == MAX_DEVICES)
        return err_set(e, ERR_INPUT, "--device: more than %d devices", MAX_DEVICES);
    const char *name = !strcmp(s, "sim") ? "h200" : text_starts_with(s, "sim:") ? s + 4 : NULL;
    bool is_gpu = !strcmp(s, "gpu");
    o->has_device = true;
    const struct gpu_device *d = is_gpu ? gpu_device_present(e) : name ? device_find(name) : NULL;
    if (d) o->devices[o->ndevices++] = d;
    if (d || is_gpu) return d;
    struct buf list = {0};
    for (unsigned i = 0; device_at(i); i++) buf_printf(&list, " sim:%s", device_at(i)->name);
    err_set(e, ERR_INPUT, "--device '%.60s' is unknown; choose gpu, sim or one of%s", s,
            buf_str(&list));
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

static bool parse_line(struct options *o, const char *s, struct err *e) {
    char rest;
    return (sscanf(s, "%u%c", &o->line, &rest) == 1 && o->line) ||
           err_set(e, ERR_INPUT, "--line takes the number of a line, not '%.40s'", s);
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
                                        [FORMAT_AUTOLAB] = "autolab",
                                        [FORMAT_HTML] = "html",
                                        [FORMAT_MOODLE] = "moodle",
                                        [FORMAT_CANVAS] = "canvas",
                                        [FORMAT_BLACKBOARD] = "blackboard",
                                        [FORMAT_BRIGHTSPACE] = "brightspace"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(s, names[i])) return o->format = (enum report_format)i, true;
    return err_set(
        e, ERR_INPUT,
        "--format '%.40s' is unknown; choose text or json, for run gradescope, "
        "classroom or autolab, for batch and export csv, nbgrader, totals, junit or tap, "
        "for export also moodle, canvas, blackboard or brightspace, for stats html",
        s);
}

static bool parse_seed(struct options *o, const char *s, struct err *e) {
    if (!*s || strlen(s) >= sizeof o->seed)
        return err_set(e, ERR_INPUT, "--seed takes 1 to %zu characters", sizeof o->seed - 1);
    strcpy(o->seed, s);
    return o->has_seed = true;
}

static bool parse_layout(struct options *o, const char *s, struct err *e) {
    return plan_parse_layout(s, &o->layout) || err_set(e, ERR_INPUT,
                                                       "--layout '%.40s' is unknown; choose one of"
#define X(name, text) " " #name
                                                       PLAN_LAYOUTS(X),
#undef X
                                                       s);
}

static bool parse_shard(struct options *o, const char *s, struct err *e) {
    char rest;
    return (sscanf(s, "%u/%u%c", &o->shard_number, &o->shard_count, &rest) == 2 &&
            o->shard_number >= 1 && o->shard_number <= o->shard_count) ||
           err_set(e, ERR_INPUT, "--shard takes K/N with K from 1 to N, not '%.40s'", s);
}

static bool add_against(struct options *o, const char *path, struct err *e) {
    if (o->nagainst == MAX_AGAINST)
        return err_set(e, ERR_INPUT, "--against: more than %d stores and folders", MAX_AGAINST);
    o->against[o->nagainst++] = path;
    return true;
}

/* ---- the table ---- */

enum option_kind { OPTION_FLAG, OPTION_FLAG_OFF, OPTION_TEXT, OPTION_NUMBER, OPTION_PARSED };
static const struct option_row {
    const char *name;
    enum option_kind kind;
    size_t offset; /* of the field in struct options */
    bool (*parse)(struct options *o, const char *value, struct err *e);
} option_rows[] = {
#define FLAG(name, field)      {name, OPTION_FLAG, offsetof(struct options, field), NULL},
#define FLAG_OFF(name, field)  {name, OPTION_FLAG_OFF, offsetof(struct options, field), NULL},
#define TEXT(name, field)      {name, OPTION_TEXT, offsetof(struct options, field), NULL},
#define NUMBER(name, field)    {name, OPTION_NUMBER, offsetof(struct options, field), NULL},
#define PARSED(name, function) {name, OPTION_PARSED, 0, function},
#include "grader/cli/options.def"
};
enum { OPTION_COUNT = sizeof option_rows / sizeof *option_rows };
enum { FIRST_VALUE = 256 /* of getopt_long: above all characters */ };

static void list_options(struct option out[OPTION_COUNT + 1]) {
    for (int i = 0; i < OPTION_COUNT; i++) {
        bool is_flag = option_rows[i].kind == OPTION_FLAG || option_rows[i].kind == OPTION_FLAG_OFF;
        out[i] = (struct option){.name = option_rows[i].name,
                                 .has_arg = is_flag ? no_argument : required_argument,
                                 .val = FIRST_VALUE + i};
    }
    out[OPTION_COUNT] = (struct option){0};
}

static bool apply_option(struct options *o, const struct option_row *row, const char *value,
                         struct err *e) {
    void *field = (char *)o + row->offset;
    switch (row->kind) {
    case OPTION_FLAG: *(bool *)field = true; return true;
    case OPTION_FLAG_OFF: *(bool *)field = false; return true;
    case OPTION_TEXT: *(const char **)field = value; return true;
    case OPTION_NUMBER: return parse_number(row->name, value, field, e);
    default: return row->parse(o, value, e);
    }
}

static void generate_seed(struct options *o) {
    unsigned char bytes[16];
    if (o->seed[0]) return;
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        die("getrandom() returned no random numbers");
    for (unsigned i = 0; i < sizeof bytes; i++) sprintf(o->seed + 2 * i, "%02x", bytes[i]);
}

void options_append_names(struct buf *out) {
    for (int i = 0; i < OPTION_COUNT; i++)
        if (option_rows[i].kind != OPTION_FLAG_OFF)
            buf_printf(out, "%s--%s", i ? " " : "", option_rows[i].name);
}

static bool refuse_option(const char *option, bool lacks_value, struct err *e) {
    char nearest[64], name[64];
    struct buf names = {0};
    options_append_names(&names);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(option, "="), option);
    bool is_near = text_nearest(name, buf_str(&names), nearest, sizeof nearest);
    buf_free(&names);
    if (lacks_value) return err_set(e, ERR_INPUT, "option '%.60s' lacks its value", option);
    return err_set(e, ERR_INPUT, "option '%.60s' is unknown%s%s%s", option,
                   is_near ? "; did you mean " : "", is_near ? nearest : "", is_near ? "?" : "");
}

bool options_parse(struct options *o, int argc, char **argv, struct err *e) {
    struct option long_options[OPTION_COUNT + 1];
    *o = (struct options){0};
    list_options(long_options);
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1;) {
        if (option == '?' || option == ':')
            return refuse_option(argv[optind - 1], option == ':', e);
        if (option == 'h') o->help = true;
        else if (!apply_option(o, &option_rows[option - FIRST_VALUE], optarg, e)) return false;
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
                                  .count_modelled = !o->ignore_modelled_speed && !o->empty_caches,
                                  .empty_caches = o->empty_caches,
                                  .prefetch_inputs = true,
                                  .only_case = o->only_case};
}

enum grade_reuse options_reuse(const struct options *o) {
    return o->has_seed || o->no_cache || o->empty_caches ? GRADE_ANEW : GRADE_REUSE_DRAWN_SEED;
}
