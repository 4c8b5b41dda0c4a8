/* test_layouts.c — tests intake with the names that each LMS gives to submissions, and with random
 * classes of all of them: nothing is lost, nobody gets another's work, nobody who handed in is
 * missing. Expected students stand beside the names. */
#include "grader/class/plan_names.h"
#include "grader/class/store.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/store_fixture.h"
#include "grader/tests/unit/submissions.h"
#include "grader/tests/unit/unit.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void make_folder(void) { submissions_make("layouts"); }

/* ---- one example of each format ---- */

static const char roster[] =
    "id,name,number,login,group\n"
    "s1,Jane Doe,101,jdoe,Group 1\ns2,\"M\xc3\xbcller, J\xc3\xb6rg\",102,jm_1,Group 1\n"
    "s3,Jim O'Neil-Roe,103,jim,Group 2\ns4,\xd0\x90\xd0\xbd\xd0\xbd\xd0\xb0 "
    "\xd0\x9b\xd0\xb8,104,anna,\n"
    "s5,Jane Doe,105,jdoe2,\n";

static const struct {
    const char *file, *student; /* "" = nobody's; NULL = unclear */
} examples[] = {
    /* Canvas: late, resubmitted, typed, a group's, another script, two people of one name */
    {"doejane_101_9001_transpose.cu", "s1"},
    {"doejane_LATE_105_9002_transpose-1.cu", "s5"},
    {"m\xc3\xbcllerj\xc3\xb6rg_102_9003_transpose.cu", "s2"},
    {"oneilroejim_999_9004_transpose.cu", "s3"},
    {"\xd0\xbb\xd0\xb8\xd0\xb0\xd0\xbd\xd0\xbd\xd0\xb0_999_9004_transpose.cu", "s4"},
    {"group2_998_9006_transpose.cu", "s3"},
    {"doejane_999_9005_transpose.cu", NULL},
    /* Moodle: up to 4.0 and since, a prefix, blind marking, a group */
    {"Jane Doe_101_assignsubmission_file_/transpose.cu", "s1"},
    {"Jane Doe_105_assignsubmission_file/transpose.cu", "s5"},
    {"J\xc3\xb6rg M\xc3\xbcller_999_assignsubmission_file_transpose.cu", "s2"},
    {"Participant_103_assignsubmission_file/transpose.cu", "s3"},
    {"Group 2_17_assignsubmission_file/transpose.cu", "s3"},
    /* accents behind their letters, as some file systems store them */
    {"Jo\xcc\x88rg Mu\xcc\x88ller_999_assignsubmission_file/transpose.cu", "s2"},
    /* Blackboard: underscores in the assignment and in the username */
    {"HW_1_jdoe_attempt_2026-10-01-21-59-00_transpose.cu", "s1"},
    {"HW_1_jm_1_attempt_2026-10-01-21-59-00_transpose.cu", "s2"},
    /* Brightspace: folder and file */
    {"101-55 - Jane Doe - Oct 1, 2026 1159 PM/transpose.cu", "s1"},
    {"105-55 - Jane Doe - 1 October, 2026 1159 PM - transpose.cu", "s5"},
    {"900-55 - Group 2 - Oct 1, 2026 1159 PM/transpose.cu", "s3"},
    /* Sakai */
    {"Doe, Jane(jdoe)/Submission attachment(s)/transpose.cu", "s1"},
    {"Doe, Jane(s5)/Submission attachment(s)/transpose.cu", "s5"},
    /* attachments of e-mails, plain names */
    {"jim_transpose.cu", "s3"},
    {"anna - transpose.cu", "s4"},
    {"Jane Doe/transpose.cu", NULL},
    {"M\xc3\x9cLLER, J\xc3\x96RG/transpose.cu", "s2"},
};

/* Fills `rows` with what intake says about one entry. */
static void take_in(const char *file, struct buf *rows) {
    make_folder();
    submissions_write(file, "// x\n");
    submissions_write_roster("r.csv", roster);
    int status = shell("cd %s && %s/grader intake c --roster r.csv --format csv --output rows.csv",
                       submissions_folder, store_fixture_folder());
    submissions_intake("c --roster r.csv", status, rows);
}

START_TEST(each_format_has_its_student) {
    struct buf rows = {0};
    char taken[64];
    for (unsigned i = 0; i < sizeof examples / sizeof *examples; i++) {
        take_in(examples[i].file, &rows);
        if (examples[i].student) {
            snprintf(taken, sizeof taken, "\n\"%s\",", examples[i].student);
            const char *row = strstr(buf_str(&rows), taken);
            const char *end = row ? strchr(row + 1, '\n') : NULL,
                       *state = strstr(buf_str(&rows), "\"taken\"");
            ck_assert_msg(row && end && state && state < end && state > row, "%s: %s",
                          examples[i].file, buf_str(&rows));
        } else {
            submissions_has(&rows, "\n\"s1\",\"\",\"\",\"\",\"unclear\"");
            submissions_has(&rows, "\n\"s5\",\"\",\"\",\"\",\"unclear\"");
            submissions_lacks(&rows, "\"taken\"");
        }
    }
    buf_free(&rows);
}
END_TEST

START_TEST(a_groups_work_counts_for_each_member) {
    struct buf rows = {0};
    take_in("group1_101_9001_transpose.cu", &rows);
    submissions_has(&rows, "\n\"s1\",\"group1_101_9001_transpose.cu\",\"transpose.cu\"");
    submissions_has(&rows, "\n\"s2\",\"group1_101_9001_transpose.cu\",\"transpose.cu\"");
    buf_free(&rows);
}
END_TEST

/* Returns true if the file that counts for s1 has this text. */
static bool counts(const char *text) {
    return shell("cd %s && [ \"$(sqlite3 c.db \"SELECT body FROM source JOIN submission USING "
                 "(digest) WHERE student = 's1'\")\" = '%s' ]",
                 submissions_folder, text) == 0;
}

START_TEST(of_several_submissions_the_latest_counts) {
    static const char *const pairs[][2] = {
        {"HW1_jdoe_attempt_2026-10-01-21-59-00_transpose.cu",
         "HW1_jdoe_attempt_2026-10-02-08-00-00_transpose.cu"},
        {"101-55 - Jane Doe - Oct 1, 2026 859 PM/transpose.cu",
         "101-56 - Jane Doe - Oct 1, 2026 1002 PM/deep/transpose.cu"},
        {"101-55 - Jane Doe - Oct 1, 2026 859 PM - transpose (1).cu",
         "101-56 - Jane Doe - Oct 1, 2026 1002 PM - transpose.cu"},
        {"doejane_101_9001_transpose.cu", "doejane_101_9107_transpose-1.cu"},
        {"doejane_101_9001_transpose-2.cu", "doejane_101_9107_transpose-10.cu"}};
    struct buf rows = {0};
    for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        make_folder();
        submissions_write_roster("r.csv", roster);
        submissions_write(pairs[i][0], "// old"), submissions_write(pairs[i][1], "// new");
        submissions_intake("c --roster r.csv --store c.db", 0, &rows);
        ck_assert_msg(counts("// new"), "%s", pairs[i][1]);
    }
    /* Two files of one attempt, or of unknown order, are for a person to choose from. */
    make_folder();
    submissions_write_roster("r.csv", roster);
    submissions_write("doejane_101_9107_transpose.cu", "// a"),
        submissions_write("doejane_101_9001_transpose-1.cu", "// b");
    submissions_intake("c --roster r.csv --store c.db", 1, &rows);
    submissions_has(&rows, "two different files match one exercise");
    buf_free(&rows);
}
END_TEST

/* Canvas numbers a name before its extension, whose parts begin with a letter
 * (Attachment.make_unique_filename). */
START_TEST(a_repeated_upload_has_its_number_before_the_extension) {
    static const struct {
        const char *name;
        unsigned long long revision;
    } uploads[] = {{"doejane_101_9001_hw.cu", 1},       {"doejane_101_9001_hw-2.cu", 3},
                   {"doejane_101_9001_hw-2.tar.gz", 3}, {"doejane_101_9001_hw 1.5-2.cu", 3},
                   {"doejane_101_9001_hw.1-2.cu", 3},   {"doejane_101_9001_hw-2", 3}};
    for (unsigned i = 0; i < sizeof uploads / sizeof *uploads; i++) {
        struct plan_entry entry = {.name = (char *)uploads[i].name, .kind = PLAN_KIND_SOURCE};
        struct plan_name name;
        ck_assert(plan_parse_name(PLAN_LAYOUT_canvas, &entry, &name));
        ck_assert_msg(name.version.revision == uploads[i].revision, "%s", uploads[i].name);
    }
}
END_TEST

START_TEST(a_moodle_groups_name_keeps_an_underscore_before_letters) {
    struct plan_name name;
    struct plan_entry entry = {.name = (char *)"Team_alpha_assignsubmission_file"};
    ck_assert(plan_parse_name(PLAN_LAYOUT_moodle, &entry, &name));
    ck_assert_str_eq(name.group, "Team_alpha");
    entry.name = (char *)"Team alpha_17_assignsubmission_file";
    ck_assert(plan_parse_name(PLAN_LAYOUT_moodle, &entry, &name));
    ck_assert_str_eq(name.group, "Team alpha");
}
END_TEST

START_TEST(typed_text_is_unclear_only_without_files) {
    struct buf rows = {0};
    make_folder();
    submissions_write_roster("r.csv", roster);
    submissions_write("Jane Doe_101_assignsubmission_file/transpose.cu", "// x");
    submissions_write("Jane Doe_101_assignsubmission_onlinetext/onlinetext.html", "x");
    submissions_write("J\xc3\xb6rg M\xc3\xbcller_102_assignsubmission_onlinetext/onlinetext.html",
                      "x");
    submissions_write("HW1_jim_attempt_2026-10-01-21-59-00_transpose.cu", "// x");
    submissions_write("HW1_jim_attempt_2026-10-01-21-59-00.txt", "x");
    submissions_write("\xd0\xbb\xd0\xb8_104_text.html", "x");
    submissions_intake("c --roster r.csv --store c.db --exercise transpose", 1, &rows);
    submissions_has(&rows, "\"\",\"left out\",\"typed text, not a file\"");
    ck_assert_int_eq(shell("cd %s && [ \"$(sqlite3 c.db 'SELECT group_concat(state) FROM (SELECT "
                           "state FROM submission ORDER BY student) s')\" = "
                           "taken,unclear,taken,unclear,missing ]",
                           submissions_folder),
                     0);
    buf_free(&rows);
}
END_TEST

START_TEST(archives_within_folders_and_archives_are_read) {
    struct buf rows = {0};
    make_folder();
    ck_assert_int_eq(
        shell("cd %s && echo '// x' >transpose.cu && tar czf in.tgz transpose.cu && tar cf mid.tar "
              "in.tgz && tar cf deep.tar mid.tar && echo no >bad.zip && tar cf bad.tar bad.zip && "
              "mkdir c/ann c/ben c/cat c/dan c/eve && cp in.tgz c/ann && cp mid.tar c/ben && cp "
              "deep.tar "
              "c/cat && cp bad.zip c/dan && cp bad.tar c/eve && cp mid.tar c/fay.tar",
              submissions_folder),
        0);
    submissions_intake("c --exercise transpose", 1, &rows);
    submissions_has(
        &rows, "\"ann\",\"ann\",\"in.tgz/transpose.cu\",\"02-coalescing/transpose\",\"taken\"");
    submissions_has(&rows,
                    "\"ben\",\"ben\",\"mid.tar/in.tgz/transpose.cu\",\"02-coalescing/transpose\",");
    submissions_has(&rows,
                    "\"cat\",\"cat\",\"deep.tar/mid.tar/in.tgz\",\"\",\"unclear\",\"an archive in "
                    "an archive in an archive\"");
    submissions_has(&rows, "\"dan\",\"dan\",\"bad.zip\",\"\",\"unclear\",\"its archive format");
    submissions_has(&rows,
                    "\"eve\",\"eve\",\"bad.tar/bad.zip\",\"\",\"unclear\",\"its archive format");
    submissions_has(&rows,
                    "\"fay\",\"fay.tar\",\"in.tgz/transpose.cu\",\"02-coalescing/transpose\",");
    buf_free(&rows);
}
END_TEST

START_TEST(an_exercise_with_another_extension_is_unclear) {
    struct buf rows = {0};
    make_folder();
    submissions_write("ann/transpose.txt", "x"), submissions_write("ann/notes.txt", "x");
    submissions_write("ann/transpose.md", "x");
    submissions_intake("c --exercise transpose", 1, &rows);
    submissions_has(&rows,
                    "\"transpose.txt\",\"\",\"unclear\",\"named after an exercise, but not a .cu");
    submissions_has(&rows, "\"left out\",\"2 other files, no sources\"");
    buf_free(&rows);
}
END_TEST

/* ---- random classes ---- */

static const struct {
    const char *text, *lower; /* `lower` as Canvas writes it */
    const char *latin;        /* in Latin script, or with the accents behind their letters */
} given[] = {{"Jane", "jane", "Jane"},
             {"J\xc3\xb6rg", "j\xc3\xb6rg", "Jo\xcc\x88rg"},
             {"\xc3\x86gir", "\xc3\xa6gir", "\xc3\x86gir"},
             {"\xd0\x90\xd0\xbd\xd0\xbd\xd0\xb0", "\xd0\xb0\xd0\xbd\xd0\xbd\xd0\xb0", "Anna"},
             {"\xeb\xaf\xbc\xec\xa4\x80", "\xeb\xaf\xbc\xec\xa4\x80", "Min-jun"},
             {"Anne-Marie", "annemarie", "Anne-Marie"}},
  family[] = {{"Doe", "doe", "Doe"},
              {"M\xc3\xbcller", "m\xc3\xbcller", "Mu\xcc\x88ller"},
              {"O'Neil", "oneil", "O'Neil"},
              {"\xd0\x98\xd0\xb2\xd0\xb0\xd0\xbd\xd0\xbe\xd0\xb2\xd0\xb0",
               "\xd0\xb8\xd0\xb2\xd0\xb0\xd0\xbd\xd0\xbe\xd0\xb2\xd0\xb0", "Ivanova"},
              {"\xea\xb9\x80", "\xea\xb9\x80", "Kim"},
              {"van der Berg", "vanderberg", "van der Berg"}};
enum { GIVEN = sizeof given / sizeof *given, FAMILY = sizeof family / sizeof *family };
enum { MAX_STUDENTS = 301, FORMS = 16, MISSING = 10 };
static const bool is_certain[FORMS] = {[0] = true, [1] = true, [2] = true,  [4] = true, [6] = true,
                                       [7] = true, [8] = true, [13] = true, [14] = true};

struct person {
    unsigned index, given, family, form;
    bool has_id, has_second_entry;
    char id[32];
};

static unsigned random_below(unsigned *state, unsigned n) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % n;
}

static void write_form(const struct person *s, unsigned form) {
    char path[400], text[32];
    const char *g = given[s->given].text, *f = family[s->family].text;
    unsigned number = 70000 + s->index;
    snprintf(text, sizeof text, "// owner %u", s->index);
    switch (form) {
    case 0: snprintf(path, sizeof path, "%s/transpose.cu", s->id); break;
    case 1: snprintf(path, sizeof path, "%s_transpose.cu", s->id); break;
    case 2:
    case 3:
        snprintf(path, sizeof path, "%s%s%s_%u_%u_transpose.cu", family[s->family].lower,
                 given[s->given].lower, s->index % 3 ? "" : "_LATE",
                 form == 2 ? number : 50000 + s->index, 90000 + s->index);
        break;
    case 4:
    case 5:
        snprintf(path, sizeof path, "%s %s_%u_assignsubmission_file%s/transpose.cu", g, f,
                 form == 4 ? number : 50000 + s->index, s->index % 2 ? "_" : "");
        break;
    case 6:
        snprintf(path, sizeof path, "HW 1_%s_attempt_2026-10-01-21-59-00_transpose.cu", s->id);
        break;
    case 7:
        snprintf(path, sizeof path, "%u-45 - %s %s - Oct 1, 2026 1159 PM/transpose.cu", number, g,
                 f);
        break;
    case 8:
        snprintf(path, sizeof path, "%s, %s(%s)/Submission attachment(s)/transpose.cu", f, g,
                 s->id);
        break;
    case 9: snprintf(path, sizeof path, "hw1-%s/transpose.cu", s->id); break;
    case 11: snprintf(path, sizeof path, "%s %s/transpose.cu", g, f); break;
    case 12: snprintf(path, sizeof path, "%s.7z", s->id); break;
    case 14:
    case 15:
        snprintf(path, sizeof path, "%s %s_%u_assignsubmission_file/transpose.cu",
                 given[s->given].latin, family[s->family].latin,
                 form == 14 ? number : 50000 + s->index);
        break;
    default: snprintf(path, sizeof path, "j%u@x.edu/transpose.cu", s->index);
    }
    submissions_write(path, text);
}

static void make_class(struct person *class, unsigned n, unsigned seed) {
    struct buf text = {0};
    bool is_padded = seed % 2 == 0; /* else an id begins with another's: s1, s10 */
    buf_puts(&text, "id,name,number,email,name in latin script\n");
    for (unsigned i = 0; i < n; i++) {
        struct person *s = &class[i];
        *s = (struct person){.index = i,
                             .given = random_below(&seed, GIVEN),
                             .family = random_below(&seed, FAMILY),
                             .form = random_below(&seed, FORMS),
                             .has_id = random_below(&seed, 8) != 0,
                             .has_second_entry = random_below(&seed, 10) == 0};
        snprintf(s->id, sizeof s->id, !s->has_id ? "j%u@x.edu" : is_padded ? "s%04u" : "s%u", i);
        buf_printf(&text, "%s,\"%s, %s\",%u,j%u@x.edu,%s %s\n", s->has_id ? s->id : "",
                   family[s->family].text, given[s->given].text, 70000 + i, i,
                   given[s->given].latin, family[s->family].latin);
        if (s->form != MISSING) write_form(s, s->form);
        if (s->form != MISSING && s->has_second_entry) write_form(s, (s->form + 2) % 9);
    }
    submissions_write_roster("r.csv", buf_str(&text));
    buf_free(&text);
}

/* Fails unless the student's fate is allowed: the own work, unclear, or missing if nothing was
 * handed in; the own work if one entry has the id, or the number. */
static void check_fate(const struct person *s, const char *state, const char *body) {
    char own[32];
    snprintf(own, sizeof own, "// owner %u", s->index);
    bool is_taken = !strcmp(state, "taken"), is_missing = !strcmp(state, "missing");
    ck_assert_msg(is_taken || is_missing || !strcmp(state, "unclear"), "%s: %s", s->id, state);
    if (is_taken) ck_assert_str_eq(body, own);
    if (is_missing) ck_assert_msg(s->form == MISSING, "%s is missing, form %u", s->id, s->form);
    if (is_certain[s->form] && !s->has_second_entry)
        ck_assert_msg(is_taken, "%s is %s, form %u", s->id, state, s->form);
}

static void check_students(struct store *s, const struct person *class, unsigned n) {
    struct err e = {0};
    struct store_rows *q = store_query(s, &e,
                                       "SELECT student, state, body FROM "
                                       "submission LEFT JOIN source USING (digest)",
                                       "");
    unsigned count = 0;
    for (; store_step(s, &q, &e); count++) {
        unsigned i = 0;
        while (i < n && strcmp(class[i].id, store_column_text(q, 0)) != 0) i++;
        ck_assert_msg(i < n, "'%s' is not on the roster", store_column_text(q, 0));
        check_fate(&class[i], store_column_text(q, 1), store_column_text(q, 2));
    }
    ck_assert_uint_eq(count, n);
}

static long long query_int(struct store *s, const char *sql) {
    struct err e = {0};
    long long n = store_query_int(s, &e, sql);
    ck_assert_msg(n >= 0, "%s", e.text);
    return n;
}

/* Returns true if the entry's name has the id, and no digit follows: s1 is not in s10. */
static bool names(const char *entry, const char *id) {
    const char *at = strstr(entry, id);
    return at && !isdigit((unsigned char)at[strlen(id)]);
}

/* Every entry is in one row's list, or is nobody's with a reason; none in the name of somebody who
 * is missing. */
static void check_entries(struct store *s) {
    ck_assert_int_eq(query_int(s, "SELECT count(*) FROM intake WHERE student = '' AND why = ''"),
                     0);
    struct err e = {0};
    struct store_rows *q = store_query(s, &e,
                                       "SELECT s.student, i.entry FROM submission s JOIN intake i "
                                       "ON i.student = '' WHERE s.state = 'missing'",
                                       "");
    while (store_step(s, &q, &e))
        ck_assert_msg(!names(store_column_text(q, 1), store_column_text(q, 0)), "%s is missing, %s",
                      store_column_text(q, 0), store_column_text(q, 1));
    ck_assert_int_eq(
        shell("cd %s && ls c | sort >there && sqlite3 c.db \"SELECT DISTINCT entry FROM intake\" "
              ">rows && while read -r f; do grep -qF -- \"$f\" rows || { echo \"$f\"; exit 1; }; "
              "done <there",
              submissions_folder),
        0);
}

START_TEST(random_classes_lose_nothing) {
    static struct person class[MAX_STUDENTS];
    struct buf rows = {0};
    for (unsigned seed = 1; seed <= 12; seed++) {
        unsigned n = seed == 1 ? MAX_STUDENTS : 40;
        struct err e = {0};
        struct store s;
        make_folder();
        make_class(class, n, seed);
        submissions_intake("c --roster r.csv --exercise transpose --store c.db", 1, &rows);
        const char *location = store_fixture_location(submissions_folder, "c.db");
        ck_assert_msg(store_open(&s, location, false, &e), "%s", e.text);
        check_students(&s, class, n), check_entries(&s);
        store_close(&s);
    }
    buf_free(&rows);
}
END_TEST

static void add_tests(TCase *t) {
    tcase_add_test(t, each_format_has_its_student);
    tcase_add_test(t, a_groups_work_counts_for_each_member);
    tcase_add_test(t, of_several_submissions_the_latest_counts);
    tcase_add_test(t, a_repeated_upload_has_its_number_before_the_extension);
    tcase_add_test(t, a_moodle_groups_name_keeps_an_underscore_before_letters);
    tcase_add_test(t, typed_text_is_unclear_only_without_files);
    tcase_add_test(t, archives_within_folders_and_archives_are_read);
    tcase_add_test(t, an_exercise_with_another_extension_is_unclear);
    tcase_add_test(t, random_classes_lose_nothing);
    tcase_set_timeout(t, 300);
}

UNIT_SUITE(layouts) {
    Suite *s = suite_create("layouts");
    store_fixture_add_long_server_cases(s, "layouts", add_tests);
    return s;
}
