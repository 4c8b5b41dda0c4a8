/* page.c — see page.h. */
#include "grader/class/page.h"
#include "common/hash.h"
#include "grader/report/report_svg.h"

#include <stdio.h>
#include <string.h>

static const char style[] =
    ":root{color-scheme:light "
    "dark;--ink:#1c1c1c;--dim:#5c5c5c;--paper:#fff;--rule:#ccc;--mark:rgba(255,190,0,.28);--good:#1a7f37;"
    "--warn:#9a5b00;--bad:#b3261e;--b:#0b62c4}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6e6e6;--dim:#a0a0a0;--paper:#141414;--rule:#444;--good:#4ac26b;--"
    "warn:#e0a030;"
    "--bad:#ff7b72;--b:#6cb0ff}}"
    "body{font:16px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:80rem;margin:0 "
    "auto;padding:1rem}"
    "h1{font-size:1.4rem}h2{font-size:1.1rem;border-bottom:1px solid "
    "var(--rule)}table{border-collapse:collapse}td,th{padding:.1rem "
    ".6rem;text-align:left;vertical-align:top}th{color:var(--dim);font-weight:normal}td.n,th.n{text-align:right;"
    "font-variant-numeric:tabular-nums}pre,.src{font:.8rem/1.35 "
    "ui-monospace,monospace}pre{white-space:pre-wrap;overflow-wrap:anywhere}"
    ".side{display:grid;grid-template-columns:1fr 1fr;gap:1rem}.side>div{overflow-x:auto}.src "
    "td{white-space:pre;padding:0 .4rem}"
    ".src "
    "td.n{color:var(--dim)}.m{background:var(--mark)}.dim{color:var(--dim)}.good{color:var(--good)}.warn{color:var(--"
    "warn)}"
    ".bad{color:var(--bad)}svg{width:100%;max-width:44rem;height:auto;display:block}svg text{font:13px "
    "system-ui,sans-serif;"
    "fill:var(--ink)}.axis{stroke:var(--rule)}.yours{fill:var(--b)}";

static void digest(struct buf *out) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char hex[HASH_HEX];
    hash_plain(style, sizeof style - 1, hex);
    unsigned char d[33] = {0};
    for (unsigned i = 0; i < 32; i++) sscanf(hex + 2 * i, "%2hhx", &d[i]);
    for (unsigned i = 0; i < 33; i += 3) {
        unsigned v = (unsigned)d[i] << 16 | (unsigned)d[i + 1] << 8 | d[i + 2];
        buf_printf(out, "%c%c%c%c", digits[v >> 18], digits[v >> 12 & 63], digits[v >> 6 & 63],
                   i == 30 ? '=' : digits[v & 63]);
    }
}

void class_page_text(const char *s, struct buf *out) { report_escape(s, strlen(s), out); }

void class_page_begin(const char *title, struct buf *out) {
    buf_puts(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta "
                  "http-equiv=\"Content-Security-Policy\" "
                  "content=\"default-src 'none'; style-src 'sha256-");
    digest(out);
    buf_puts(out, "'; base-uri 'none'; form-action 'none'\">\n<meta name=\"viewport\" "
                  "content=\"width=device-width,initial-scale=1\">\n"
                  "<title>");
    class_page_text(title, out);
    buf_printf(out, "</title>\n<style>%s</style></head><body>\n<h1>", style);
    class_page_text(title, out);
    buf_puts(out, "</h1>\n");
}

void class_page_end(struct buf *out) { buf_puts(out, "</body></html>\n"); }

void class_page_name(const char *id, const char *ending, char out[256]) {
    char sum[HASH_HEX];
    size_t n = 0;
    bool changed = !*id || *id == '.';
    for (; id[n] && n < 120; n++) {
        bool plain = (id[n] >= 'a' && id[n] <= 'z') || (id[n] >= '0' && id[n] <= '9') || strchr("-_.@+", id[n]) ||
                     (id[n] >= 'A' && id[n] <= 'Z');
        out[n] = plain ? id[n] : '_', changed |= !plain;
    }
    changed |= id[n] != 0, out[n] = 0;
    hash_plain(id, strlen(id), sum);
    if (*out == '.') *out = '_';
    if (changed) snprintf(out + n, 256 - n, "-%.8s", sum);
    strncat(out, ending, 64);
}
