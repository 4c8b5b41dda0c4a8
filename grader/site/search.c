/* search.c — the site's search. makesite writes an index into the first page: for each page its
 * title, its address and its words, each once. A script of a few lines searches it. Without scripts
 * the first page still lists all pages. */
#include "grader/site/site.h"
#include "grader/page/page.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_WORD = 3, MAX_WORD = 40 };

static bool is_word_char(unsigned char c) { return isalnum(c) || c == '_' || c >= 0x80; }

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *lowercase_copy(const char *p, size_t n) {
    char *w = xmalloc(n + 1);
    for (size_t i = 0; i < n; i++) w[i] = (char)tolower((unsigned char)p[i]);
    w[n] = 0;
    return w;
}

void site_index_words(struct site_page *p) {
    char **words = NULL;
    size_t n = 0, capacity = 0;
    for (const char *s = buf_str(&p->markdown); *s;) {
        size_t length = 0;
        while (is_word_char((unsigned char)s[length])) length++;
        if (length >= MIN_WORD && length <= MAX_WORD && !isdigit((unsigned char)*s)) {
            if (n == capacity)
                words = xrealloc(words, (capacity = capacity ? 2 * capacity : 256) * sizeof *words);
            words[n++] = lowercase_copy(s, length);
        }
        s += length ? length : 1;
    }
    if (n) qsort(words, n, sizeof *words, by_text);
    for (size_t i = 0; i < n; i++) {
        if (!i || strcmp(words[i], words[i - 1]))
            buf_puts(&p->search_words, " "), buf_puts(&p->search_words, words[i]);
        if (i) free(words[i - 1]);
    }
    if (n) free(words[n - 1]);
    free(words);
}

/* Appends a JSON string for a script element; it escapes '<', which could end the element. */
static void put_json_string(const char *s, struct buf *out) {
    buf_puts(out, "\"");
    for (; *s; s++) {
        if (*s == '"' || *s == '\\' || *s == '<' || (unsigned char)*s < ' ')
            buf_printf(out, "\\u%04x", (unsigned char)*s);
        else buf_add(out, s, 1);
    }
    buf_puts(out, "\"");
}

void site_search_box(const struct site *s, struct buf *out) {
    buf_puts(out, "<p><label>Search <input type=\"search\" id=\"q\" "
                  "autocomplete=\"off\"></label></p>\n<ul id=\"found\"></ul>\n"
                  "<script type=\"application/json\" id=\"index\">[");
    for (unsigned i = 0; i < s->n; i++) {
        buf_puts(out, i ? ",\n[" : "\n["), put_json_string(s->pages[i].title, out);
        buf_puts(out, ","), put_json_string(s->pages[i].path, out);
        buf_puts(out, ","), put_json_string(buf_str(&s->pages[i].search_words), out),
            buf_puts(out, "]");
    }
    buf_puts(out, "]</script>\n");
}

const char *site_search_script(void) {
    return "\n(function(){var q=document.getElementById('q'),list=document.getElementById('found'),"
           "pages=JSON.parse(document.getElementById('index').textContent);\n"
           "function score(p,words){var s=0,t=p[0].toLowerCase();for(var i=0;i<words.length;i++){"
           "if(t.indexOf(words[i])>=0)s+=10;else if(p[2].indexOf(' '+words[i]+' ')>=0)s+=3;"
           "else if(p[2].indexOf(' '+words[i])>=0)s+=1;else return 0}return s}\n"
           "function look(){var "
           "words=q.value.toLowerCase().split(/[^a-z0-9_\\u0080-\\uffff]+/).filter(Boolean);"
           "list.textContent='';if(!words.length)return;\n"
           "pages.map(function(p){return[score(p,words),p]}).filter(function(x){return "
           "x[0]}).sort(function(a,b){"
           "return b[0]-a[0]}).slice(0,20).forEach(function(x){var li=document.createElement('li'),"
           "a=document.createElement('a');a.href=x[1][1];a.textContent=x[1][0];li.appendChild(a);"
           "list.appendChild(li)})"
           "}\n"
           "q.addEventListener('input',look);look()})();\n";
}
