/* page.c — see page.h. The content security policy names the digests of style and script, so that a
 * browser accepts no others. */
#include "grader/page/page.h"
#include "grader/page/style.h"

#include <math.h>
#include <sha2.h>
#include <stdio.h>
#include <string.h>

static const char style_sheet[] = STYLE_COLOURS
    "*{box-sizing:border-box}html{-webkit-text-size-adjust:100%}"
    "body{font:16px/1.5 "
    "system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:60rem;margin:0 auto;"
    "padding:1rem;overflow-wrap:break-word}h1{font-size:1.5rem;line-height:1.25;margin:.2rem "
    "0}h2{font-size:1.15rem;"
    "border-bottom:1px solid var(--rule);padding-bottom:.2rem;margin:2rem 0 "
    ".7rem}h3{font-size:1rem;margin:1.2rem 0 "
    ".4rem}p{margin:.5rem 0}a{color:var(--b)}"
    "code,pre,.src{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans "
    "Mono',monospace;font-size:.82rem}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.4rem "
    "0;background:var(--tint);padding:.5rem .7rem;"
    "border-radius:.3rem}.scroll{overflow-x:auto}table{border-collapse:collapse}td,th{padding:."
    "15rem .6rem .15rem 0;"
    "text-align:left;vertical-align:top}th{color:var(--dim);font-weight:normal}td.n,th.n{text-"
    "align:right;"
    "font-variant-numeric:tabular-nums;white-space:nowrap}.w{white-space:nowrap}.src "
    "td{white-space:pre;padding:0 "
    ".5rem 0 0}.src "
    "td.n{color:var(--dim)}.good{color:var(--good)}.warn{color:var(--warn)}.bad{color:var(--bad)}."
    "dim{color:var(--dim)}.h2 td.n,.h3 td.n,.h4 td.n{color:var(--ink)}"
    ".h1{background:rgba(var(--h),.07)}.h2{background:rgba(var(--h),.16)}.h3{background:rgba(var(--"
    "h),.28)}"
    ".h4{background:rgba(var(--h),.42)}.m{background:rgba(255,190,0,.28)}"
    ".side{display:grid;gap:1rem;grid-template-columns:repeat(auto-fit,minmax(min(22rem,100%),1fr))"
    "}.side>div{overflow-"
    "x:auto}"
    "svg{width:100%;max-width:36rem;height:auto;display:block}"
    ".row{display:grid;gap:1rem;grid-template-columns:repeat(auto-fill,minmax(min(17rem,100%),1fr))"
    "}.row>figure{min-"
    "width:0}"
    ".two{grid-template-columns:repeat(auto-fill,minmax(min(23rem,100%),1fr))}"
    "figure{margin:.5rem 0}figcaption{font-size:.88rem;color:var(--dim)}figcaption "
    "code{color:var(--ink)}" STYLE_SVG ".s0{stroke:var(--p0)}.s1{stroke:var(--p2)}.s2{stroke:"
    "var(--p4)}.s3{stroke:var(--p8)}.s4{stroke:var(--p5)}"
    ".s5{stroke:var(--p10)}.curve{fill:none;stroke-width:2}"
    ".key{display:flex;flex-wrap:wrap;gap:.2rem .9rem;font-size:.85rem;margin:.3rem 0}.key "
    "svg{width:.8rem;height:.8rem;"
    "display:inline-block;vertical-align:-.1rem;margin-right:.3rem}"
    "nav{font-size:.92rem}nav ul{padding-left:1.1rem;margin:.2rem 0}blockquote{margin:.5rem "
    "0;padding-left:.8rem;"
    "border-left:3px solid var(--rule);color:var(--dim)}.md "
    "table{display:block;overflow-x:auto;max-width:100%;margin:.6rem 0}"
    ".md td,.md th{border-bottom:1px solid var(--rule);padding:.2rem .7rem .2rem 0}.md "
    ":not(pre)>code{background:var(--tint);"
    "border-radius:.2rem;padding:0 .2rem;overflow-wrap:anywhere}"
    "input[type=search]{font:inherit;color:inherit;background:var(--tint);border:1px solid "
    "var(--rule);border-radius:.3rem;"
    "padding:.35rem .6rem;width:100%;max-width:30rem}"
    ".md pre{white-space:pre;overflow-x:auto;overflow-wrap:normal}.md td "
    "code{overflow-wrap:normal!important}"
    "@media "
    "print{body{max-width:none;padding:0}*{print-color-adjust:exact}.scroll,.side>div,.md "
    "pre{overflow:visible}.scroll "
    "table,.md table{font-size:.72rem}.scroll td,.scroll th{padding-right:.3rem}.scroll th,.scroll "
    "th.n{white-space:normal}"
    ".src td{white-space:pre-wrap;overflow-wrap:anywhere;font-size:.58rem}.src "
    "td.n{white-space:nowrap}"
    ".md pre,.md pre code{white-space:pre-wrap;overflow-wrap:anywhere;font-size:.58rem}"
    ".md table{display:table}.md td{overflow-wrap:anywhere}td code,th "
    "code{font-size:.62rem;overflow-wrap:anywhere!important}"
    ".scroll "
    "table:not(.src),tr{break-inside:avoid}h2,h3,h3+p,h2+p{break-after:avoid}figure,svg{break-"
    "inside:avoid}"
    "input{display:none}}";

const char *page_style_sheet(void) { return style_sheet; }

/* Writes the SHA-256 of a style or script in base64, as the policy requires. */
static void append_script_digest(const char *text, struct buf *out) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t d[SHA256_DIGEST_LENGTH + 1] = {0};
    SHA2_CTX c;
    SHA256Init(&c);
    SHA256Update(&c, (const uint8_t *)text, strlen(text));
    SHA256Final(d, &c);
    buf_puts(out, "'sha256-");
    for (unsigned i = 0; i < SHA256_DIGEST_LENGTH; i += 3) {
        unsigned v = (unsigned)d[i] << 16 | (unsigned)d[i + 1] << 8 |
                     (i + 2 < SHA256_DIGEST_LENGTH ? d[i + 2] : 0);
        char four[5] = {digits[v >> 18], digits[v >> 12 & 63], digits[v >> 6 & 63], digits[v & 63],
                        0};
        if (i + 2 >= SHA256_DIGEST_LENGTH) four[3] = '=';
        buf_puts(out, four);
    }
    buf_puts(out, "'");
}

void page_open(const char *title, const char *script, struct buf *out) {
    buf_puts(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src ");
    append_script_digest(style_sheet, out);
    if (script) buf_puts(out, "; script-src "), append_script_digest(script, out);
    buf_puts(out,
             "; base-uri 'none'; form-action 'none'\">\n"
             "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>");
    html_escape_text(title, out);
    buf_printf(out, "</title>\n<style>%s</style></head><body>\n", style_sheet);
}

void page_close(const char *script, struct buf *out) {
    if (script) buf_printf(out, "<script>%s</script>\n", script);
    buf_puts(out, "</body></html>\n");
}

void html_escape_text(const char *s, struct buf *out) { html_escape(s, strlen(s), out); }

void page_element(const char *name, const char *css_class, const char *text, struct buf *out) {
    buf_printf(out, "<%s%s%s%s>", name, css_class[0] ? " class=\"" : "", css_class,
               css_class[0] ? "\"" : "");
    html_escape_text(text, out);
    buf_printf(out, "</%s>", name);
}

void page_number(double v, struct buf *out) {
    static const struct {
        double from;
        const char *unit;
    } scale[] = {{1e12, " T"}, {1e9, " G"}, {1e6, " M"}};
    double size = fabs(v);
    for (unsigned i = 0; i < sizeof scale / sizeof *scale; i++)
        if (size >= scale[i].from * 0.9995) {
            buf_printf(out, "%.3g%s", v / scale[i].from, scale[i].unit);
            return;
        }
    if (size >= 1e4)
        buf_printf(out, "%s%.0f %03.0f", v < 0 ? "-" : "", floor(round(size) / 1000),
                   fmod(round(size), 1000));
    else buf_printf(out, "%.4g", v);
}

void page_time(double us, struct buf *out) {
    if (us >= 1e4) buf_printf(out, "%.4g ms", us / 1e3);
    else buf_printf(out, "%.4g µs", us);
}

void page_cell(double v, struct buf *out) {
    buf_puts(out, "<td class=\"n\">");
    page_number(v, out);
    buf_puts(out, "</td>");
}
