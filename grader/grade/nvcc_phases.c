/* nvcc_phases.c — see nvcc_phases.h.
 *
 * nvcc runs its steps one after the other: gcc -E and cudafe++ for the host pass, gcc -E and cicc
 * for the device pass, then ptxas, fatbinary, gcc -c and the linker. The two passes take most of
 * the time. All that they share is the module ID: cudafe++ derives it from the path and from the
 * name of the first external function, and cicc puts it into internal names. An edit rarely
 * changes either. So the script reads the steps from `nvcc --dryrun` and runs both passes at once,
 * with the module ID of an earlier build. If it turns out to be another one, cicc runs again. So
 * the output is nvcc's, byte for byte.
 *
 * The messages of the host pass are printed first, as nvcc does. If it fails, those of the device
 * pass are left out: nvcc stops at the first step that fails. */
#include "grader/grade/nvcc_phases.h"

#include <ctype.h>
#include <string.h>

const char nvcc_phases_script[] =
    "guess=$1 count=0; shift\n"
    "\"$@\" --dryrun >steps.list 2>&1 || exec \"$@\"\n"
    "while IFS= read -r line; do\n"
    "  line=${line#'#$ '}; name=${line%%=*}\n"
    "  case $name in\n"
    "  PATH | LD_LIBRARY_PATH | CICC_PATH) export \"$line\" ;;\n"
    "  *[!A-Za-z0-9_]*) count=$((count + 1)); eval \"step$count=\\$line\" ;;\n"
    "  esac\n"
    "done <steps.list\n"
    /* nvcc itself runs any other list of steps. */
    "case $step1 in gcc*' -E '*) ;; *) exec \"$@\" ;; esac\n"
    "case $step2 in cudafe++*'--gen_module_id_file '*) ;; *) exec \"$@\" ;; esac\n"
    "case $step3 in gcc*' -E '*) ;; *) exec \"$@\" ;; esac\n"
    "id_option=' --module_id_file_name '\n"
    "case $step4 in *cicc*$id_option'\"'*'.module_id\" '*) ;; *) exec \"$@\" ;; esac\n"
    "id_file=${step4#*$id_option'\"'}; id_file=${id_file%%'\"'*}\n"
    "early=${step4%%$id_option*}${id_option}early.id${step4#*$id_option'\"'$id_file'\"'}\n"
    "printf %s \"$guess\" >early.id\n"
    "(eval \"$step3\" && if [ \"$guess\" ]; then eval \"$early\"; fi) >device.log 2>&1 &\n"
    "(eval \"$step1\" && eval \"$step2\") || exit\n"
    "wait $!; status=$?\n"
    "id=; read -r id <\"$id_file\"\n"
    "if [ \"$guess\" ] && [ \"$guess\" = \"$id\" ]; then\n"
    "  cat device.log; [ $status = 0 ] || exit $status\n"
    "else eval \"$step3\" && eval \"$step4\" || exit; fi\n"
    "i=5\n"
    "while [ $i -le $count ]; do eval \"eval \\\"\\$step$i\\\"\" || exit; i=$((i + 1)); done\n";

/* Returns true if the line may declare a function at file scope. */
static bool may_be_signature(const char *line, size_t length) {
    return length && (isalpha((unsigned char)*line) || *line == '_') && memchr(line, '(', length);
}

void nvcc_phases_hash_signatures(struct hash *h, const char *text, size_t size) {
    for (const char *end = text + size; text < end;) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t length = newline ? (size_t)(newline - text) : (size_t)(end - text);
        if (may_be_signature(text, length)) hash_update(h, text, length + (newline != NULL));
        text += length + 1;
    }
}

bool nvcc_phases_is_module_id(const char *text, size_t size) {
    size_t length = 0;
    while (length < size && (isalnum((unsigned char)text[length]) || text[length] == '_')) length++;
    return size && length == size && size < MODULE_ID_SIZE;
}
