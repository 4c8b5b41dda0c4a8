/* quiz_export.c — see quiz_export.h. Formats: "GIFT format" of Moodle's documentation; IMS Question
 * & Test Interoperability 1.2 (ASI XML binding) with the metadata field `question_type`, by which
 * Canvas selects the kind. A question with choices lists them in the page's order. */
#include "grader/cli/quiz_export.h"
#include "common/text.h"
#include "grader/class/zip_file.h"
#include "grader/page/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CHOICES = 26 };

/* A question in its parts. Each text points into the question's. */
struct question_parts {
    const char *title, *body, *choice[MAX_CHOICES + 1];
    size_t title_size, body_size;
};

static struct question_parts split_question(const struct quiz_question *q) {
    struct question_parts p = {.title = q->text + strcspn(q->text, " ") + 1};
    p.title_size = strcspn(p.title, "\n");
    p.body = p.title + p.title_size;
    const char *end = q->text + strlen(q->text);
    for (unsigned i = 0; i < q->nchoices; i++) {
        char mark[8];
        snprintf(mark, sizeof mark, "\n- %c. ", 'a' + (int)i);
        p.choice[i] = strstr(p.body, mark) + 6;
    }
    p.choice[q->nchoices] = end + 6;
    p.body_size = (size_t)((q->nchoices ? p.choice[0] - 6 : end) - p.body);
    return p;
}

static size_t choice_size(const struct question_parts *p, unsigned i) {
    return (size_t)(p->choice[i + 1] - 6 - p->choice[i]);
}

static void put_body(const struct quiz_question *q, const struct question_parts *p,
                     struct buf *out) {
    quiz_html(p->body, p->body_size, out);
    if (!q->nchoices)
        buf_puts(out,
                 "<p>Answer with a number. Write a fraction or a percentage as a decimal, such "
                 "as 0.3 for 30 %.</p>");
}

/* ---- GIFT ---- */

/* Escapes what GIFT reserves. A line break would end a question, so it becomes \n. */
static void put_gift_text(const struct buf *text, struct buf *out) {
    for (const char *s = buf_str(text); *s; s++) {
        if (*s == '\n') buf_puts(out, "\\n");
        else {
            if (strchr("\\~=#{}:", *s)) buf_puts(out, "\\");
            buf_add(out, s, 1);
        }
    }
}

static void put_gift_html(const char *markdown, size_t size, struct buf *out) {
    struct buf html = {0};
    quiz_html(markdown, size, &html);
    put_gift_text(&html, out);
    buf_free(&html);
}

static void put_gift_question(const struct quiz_question *q, struct buf *out) {
    struct question_parts p = split_question(q);
    struct buf title = {0}, body = {0};
    buf_add(&title, p.title, p.title_size), put_body(q, &p, &body);
    buf_puts(out, "::"), put_gift_text(&title, out), buf_puts(out, "::[html]");
    put_gift_text(&body, out);
    buf_puts(out, " {");
    if (!q->nchoices) buf_printf(out, "#%.10g:%.6g", q->answer, quiz_export_tolerance(q));
    for (unsigned i = 0; i < q->nchoices; i++) {
        buf_puts(out, q->correct_choice == (char)('a' + i) ? "\n=" : "\n~");
        put_gift_html(p.choice[i], choice_size(&p, i), out);
    }
    buf_puts(out, "\n####"), put_gift_html(q->explanation, strlen(q->explanation), out);
    buf_puts(out, "}\n\n");
    buf_free(&title), buf_free(&body);
}

void quiz_export_gift(const struct quiz_chapter *chapters, unsigned n, struct buf *out) {
    for (unsigned i = 0; i < n; i++) {
        buf_printf(out, "$CATEGORY: $course$/Warpbook/%s\n\n", chapters[i].name);
        for (unsigned k = 0; k < chapters[i].quiz.n; k++)
            put_gift_question(&chapters[i].quiz.questions[k], out);
    }
}

/* ---- QTI 1.2 ---- */

/* Appends HTML as the text of a QTI element, which escapes it once more. */
static void put_material(const struct buf *html, struct buf *out) {
    buf_puts(out, "<material><mattext texttype=\"text/html\">");
    html_escape_text(buf_str(html), out);
    buf_puts(out, "</mattext></material>");
}

static void put_markdown_material(const char *markdown, size_t size, struct buf *out) {
    struct buf html = {0};
    quiz_html(markdown, size, &html), put_material(&html, out);
    buf_free(&html);
}

static void put_choices(const struct quiz_question *q, const struct question_parts *p,
                        struct buf *out) {
    buf_puts(out, "<response_lid ident=\"response1\" rcardinality=\"Single\"><render_choice>\n");
    for (unsigned i = 0; i < q->nchoices; i++) {
        buf_printf(out, "<response_label ident=\"%c\">", 'a' + (int)i);
        put_markdown_material(p->choice[i], choice_size(p, i), out);
        buf_puts(out, "</response_label>\n");
    }
    buf_puts(out, "</render_choice></response_lid>");
}

static void put_condition(const struct quiz_question *q, struct buf *out) {
    double tolerance = quiz_export_tolerance(q);
    if (q->nchoices)
        buf_printf(out, "<varequal respident=\"response1\">%c</varequal>", q->correct_choice);
    else
        buf_printf(out,
                   "<or><varequal respident=\"response1\">%.10g</varequal><and><vargte "
                   "respident=\"response1\">%.10g</vargte><varlte respident=\"response1\">%.10g"
                   "</varlte></and></or>",
                   q->answer, q->answer - tolerance, q->answer + tolerance);
}

static void put_item(const struct quiz_question *q, const char *identifier, struct buf *out) {
    struct question_parts p = split_question(q);
    struct buf body = {0};
    buf_printf(out, "<item ident=\"%s\" title=\"", identifier);
    html_escape(p.title, p.title_size, out);
    buf_printf(out,
               "\">\n<itemmetadata><qtimetadata><qtimetadatafield><fieldlabel>question_type"
               "</fieldlabel><fieldentry>%s_question</fieldentry></qtimetadatafield>"
               "<qtimetadatafield><fieldlabel>points_possible</fieldlabel><fieldentry>1"
               "</fieldentry></qtimetadatafield></qtimetadata></itemmetadata>\n<presentation>",
               q->nchoices ? "multiple_choice" : "numerical");
    put_body(q, &p, &body), put_material(&body, out), buf_free(&body);
    if (q->nchoices) put_choices(q, &p, out);
    else
        buf_puts(out, "<response_str ident=\"response1\" rcardinality=\"Single\"><render_fib "
                      "fibtype=\"Decimal\"><response_label ident=\"answer1\"/></render_fib>"
                      "</response_str>");
    buf_puts(out,
             "</presentation>\n<resprocessing><outcomes><decvar maxvalue=\"100\" minvalue=\"0\" "
             "varname=\"SCORE\" vartype=\"Decimal\"/></outcomes>\n<respcondition "
             "continue=\"Yes\"><conditionvar><other/></conditionvar><displayfeedback "
             "feedbacktype=\"Response\" linkrefid=\"general_fb\"/></respcondition>\n"
             "<respcondition continue=\"No\"><conditionvar>");
    put_condition(q, out);
    buf_puts(out,
             "</conditionvar><setvar action=\"Set\" varname=\"SCORE\">100</setvar>"
             "</respcondition></resprocessing>\n<itemfeedback ident=\"general_fb\"><flow_mat>");
    put_markdown_material(q->explanation, strlen(q->explanation), out);
    buf_puts(out, "</flow_mat></itemfeedback>\n</item>\n");
}

static void put_assessment(const struct quiz_chapter *c, struct buf *out) {
    buf_printf(out,
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<questestinterop "
               "xmlns=\"http://www.imsglobal.org/xsd/ims_qtiasiv1p2\">\n<assessment "
               "ident=\"warpbook-%s\" title=\"",
               c->name);
    html_escape_text(c->title, out);
    buf_puts(out, "\">\n<section ident=\"root_section\">\n");
    for (unsigned i = 0; i < c->quiz.n; i++) {
        char identifier[160];
        snprintf(identifier, sizeof identifier, "warpbook-%s-%u", c->name, i + 1);
        put_item(&c->quiz.questions[i], identifier, out);
    }
    buf_puts(out, "</section>\n</assessment>\n</questestinterop>\n");
}

static void put_manifest(const struct quiz_chapter *chapters, unsigned n, struct buf *out) {
    buf_puts(out,
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<manifest identifier=\"warpbook\" "
             "xmlns=\"http://www.imsglobal.org/xsd/imscp_v1p1\">\n<metadata><schema>IMS Content"
             "</schema><schemaversion>1.1.3</schemaversion></metadata>\n<organizations/>\n"
             "<resources>\n");
    for (unsigned i = 0; i < n; i++)
        buf_printf(out,
                   "<resource identifier=\"warpbook-%s\" type=\"imsqti_xmlv1p2\" href=\"%s.xml\">"
                   "<file href=\"%s.xml\"/></resource>\n",
                   chapters[i].name, chapters[i].name, chapters[i].name);
    buf_puts(out, "</resources>\n</manifest>\n");
}

static bool add_file(struct zip_file *z, const char *name, struct buf *text) {
    bool ok = zip_add(z, name, buf_str(text), text->size, false);
    return buf_free(text), ok;
}

bool quiz_export_qti(const struct quiz_chapter *chapters, unsigned n, struct buf *out,
                     struct err *e) {
    char *data = NULL;
    size_t size = 0;
    struct zip_file z;
    struct buf text = {0};
    FILE *f = open_memstream(&data, &size);
    if (!f) return err_set(e, ERR_SYSTEM, "no memory for the package");
    bool ok = zip_begin(&z, f, e);
    put_manifest(chapters, n, &text);
    ok = ok && add_file(&z, "imsmanifest.xml", &text);
    for (unsigned i = 0; ok && i < n; i++) {
        char name[200];
        snprintf(name, sizeof name, "%.180s.xml", chapters[i].name);
        put_assessment(&chapters[i], &text);
        ok = add_file(&z, name, &text);
    }
    ok = zip_end(&z, ok);
    fclose(f);
    if (ok) buf_add(out, data, size);
    free(data), buf_free(&text);
    return ok;
}
