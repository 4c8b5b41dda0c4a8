/* search.c — a small index, made when the pages are: for each page its title, its address, and the
 * words in it, each once. It lies in the first page as data; a script of a few lines looks words up
 * in it. Without a script the list of pages is there. */
#include "grader/site/site.h"
#include "grader/page/page.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { SHORTEST = 3, LONGEST = 40 };

static bool in_word(unsigned char c) { return isalnum(c) || c == '_' || c >= 0x80; }

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *copy_word(const char *p, size_t n) {
    char *w = xmalloc(n + 1);
    for (size_t i = 0; i < n; i++) w[i] = (char)tolower((unsigned char)p[i]);
    w[n] = 0;
    return w;
}

void site_index(struct site_page *p) {
    char **word = NULL;
    size_t n = 0, room = 0;
    for (const char *s = buf_str(&p->markdown); *s;) {
        size_t length = 0;
        while (in_word((unsigned char)s[length])) length++;
        if (length >= SHORTEST && length <= LONGEST && !isdigit((unsigned char)*s)) {
            if (n == room) word = xrealloc(word, (room = room ? 2 * room : 256) * sizeof *word);
            word[n++] = copy_word(s, length);
        }
        s += length ? length : 1;
    }
    if (n) qsort(word, n, sizeof *word, by_text);
    for (size_t i = 0; i < n; i++) {
        if (!i || strcmp(word[i], word[i - 1]))
            buf_puts(&p->words, " "), buf_puts(&p->words, word[i]);
        if (i) free(word[i - 1]);
    }
    if (n) free(word[n - 1]);
    free(word);
}

/* As JSON inside a page: nothing in it may end the element. */
static void put_string(const char *s, struct buf *out) {
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
        buf_puts(out, i ? ",\n[" : "\n["), put_string(s->page[i].title, out);
        buf_puts(out, ","), put_string(s->page[i].path, out);
        buf_puts(out, ","), put_string(buf_str(&s->page[i].words), out), buf_puts(out, "]");
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
