/* roster_time.c — the times of submission in Moodle's grading worksheet; see roster.h. Moodle
 * writes them in the language and the time zone of whoever exports the file, by its strings
 * strftimedaydatetime and strftimedatetime. */
#include "grader/class/roster.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

bool roster_parse_words(const char *words, const char *utc_offset, char out[ROSTER_TIME_SIZE]) {
    static const char *const formats[] = {"%A, %d %B %Y, %I:%M %p", "%A, %d %B %Y, %H:%M",
                                          "%d %B %Y, %I:%M %p", "%d %B %Y, %H:%M"};
    for (unsigned i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct tm t = {0};
        char text[32];
        const char *rest = strptime(words, formats[i], &t);
        if (!rest || rest[strspn(rest, " ")]) continue;
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:00", &t);
        snprintf(out, ROSTER_TIME_SIZE, "%s%.8s", text, utc_offset);
        return true;
    }
    return false;
}
