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
 * Both passes spend most of their time on cuda_runtime.h. With the files of host_header.h, gcc
 * reads only its macros, and cudafe++ and cicc only the declarations that the source may name
 * (trim.h). If that fails or gives any message, the steps run again as nvcc lists them.
 *
 * The messages of the host pass are printed first, as nvcc does. If it fails, those of the device
 * pass are left out: nvcc stops at the first step that fails. */
#include "grader/grade/nvcc_phases.h"

#include <ctype.h>
#include <string.h>

const char nvcc_phases_script[] =
    "guess=$1 count=0; shift\n"
    /* The kept list is that of another file. Its digest, a line without an end, is not read. */
    "for word; do case $word in *.cu) stem=${word%.cu} ;; esac; done\n"
    "case $stem in *[!A-Za-z0-9_-]*) kept= ;; *) kept=/host-header/steps ;; esac\n"
    "if [ \"$kept\" ] && [ -e $kept ]; then cat $kept >steps.list\n"
    "else \"$@\" --dryrun >steps.list 2>&1 || exec \"$@\"; fi\n"
    "while IFS= read -r rest; do\n"
    "  rest=${rest#'#$ '} line=\n"
    "  while :; do case $rest in\n"
    "    *warpbook-source*)\n"
    "      line=$line${rest%%warpbook-source*}$stem; rest=${rest#*warpbook-source} ;;\n"
    "    *) break ;;\n"
    "  esac; done\n"
    "  line=$line$rest; name=${line%%=*}\n"
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
    "trim=/lib-warpbook/trim_headers\n"
    "include=' -include \"cuda_runtime.h\" '\n"
    /* Runs the pass $1: step $2 preprocesses, step $3 compiles. In short form it preprocesses with
     * the headers' macros, and puts the declarations that the source may name in front. A file
     * that takes long to compile takes at most 10 s longer. */
    "run_short() {\n"
    "  [ -e /host-header/$1.ii ] && [ -e /host-header/$1.macros ] && [ -e $trim ] || return\n"
    "  case $2 in *\"$include\"*) ;; *) return 1 ;; esac\n"
    "  output=${2##*' -o \"'}; output=${output%%'\"'*}\n"
    "  eval \"${2%%\"$include\"*} -imacros /host-header/$1.macros ${2#*\"$include\"}\" && "
    "$trim source /host-header/$1.ii \"$output\" \"$output.trimmed\" && "
    "mv \"$output.trimmed\" \"$output\" && eval \"$3\"\n"
    "}\n"
    "run_pass() {\n"
    "  (ulimit -t 10; run_short \"$@\") >$1.short 2>&1 && [ ! -s $1.short ] && return\n"
    "  rm -f $1.short; eval \"$2\" && eval \"$3\"\n"
    "}\n"
    "(if [ \"$guess\" ]; then run_pass device \"$step3\" \"$early\"; fi) >device.log 2>&1 &\n"
    "run_pass host \"$step1\" \"$step2\" || exit\n"
    "wait $!; status=$?\n"
    "id=; read -r id <\"$id_file\"\n"
    "if [ \"$guess\" ] && [ \"$guess\" = \"$id\" ]; then\n"
    "  cat device.log; [ $status = 0 ] || exit $status\n"
    "else run_pass device \"$step3\" \"$step4\" || exit; fi\n"
    /* Compiles the host code with the precompiled header, if it begins with the header's text,
     * which has a digest of 64 characters behind it. */
    "with_header() {\n"
    "  [ -e /host-header/host-header.gch ] && [ -e /host-header/text ] || return\n"
    "  file=${1%%'.cudafe1.cpp\"'*}; file=${file##*'\"'}.cudafe1.cpp\n"
    "  if [ -e host.short ]; then\n"
    "    $trim host /host-header/text \"$file\" host.own || return\n"
    "  else\n"
    "    size=$(($(wc -c </host-header/text) - 64))\n"
    "    tail -n +2 \"$file\" >host.all && cmp -s -n $size /host-header/text host.all || return\n"
    "    tail -c +$((size + 1)) host.all >host.own\n"
    "  fi\n"
    "  read -r own <host.own; case $own in '#'*) ;; *) return 1 ;; esac\n"
    "  mv \"$file\" host.whole\n"
    "  { head -n 1 host.whole; echo '#include \"/host-header/host-header\"'\n"
    /* gcc keeps no state of its warnings in the header. */
    "    head -n 21 host.whole | grep '^#pragma GCC diagnostic ignored'; cat host.own; } "
    ">\"$file\"\n"
    "  eval \"$1 -Werror=invalid-pch\" 2>host.log && { cat host.log >&2; return; }\n"
    "  mv host.whole \"$file\"; return 1\n"
    "}\n"
    /* Links with a small library in place of libstdc++, as host_header.c explains. */
    "link_with_stub() {\n"
    "  [ -e /host-header/libstdc++.so ] || return\n"
    "  eval \"$1 -nodefaultlibs /host-header/libstdc++.so $common_libraries -Wl,-z,defs\" "
    ">link.log 2>&1 && cat link.log >&2\n"
    "}\n"
    "common_libraries='-lgcc_s -lgcc -lc -lgcc_s -lgcc'\n"
    "i=5 host=\n"
    "while [ $i -le $count ]; do\n"
    "  eval \"step=\\$step$i\"; i=$((i + 1))\n"
    "  case $step in gcc*' -c -x c++ '*'.cudafe1.cpp\"'*)\n"
    "    host=$step; with_header \"$step\" && continue\n"
    /* What cudafe++ wrote for some of the declarations compiles with the header only. */
    "    [ ! -e host.short ] || {\n"
    "      rm host.short; eval \"$step1\" && eval \"$step2\" || exit\n"
    "      with_header \"$step\" && continue\n"
    "    } ;;\n"
    "  g++*' -shared '*) link_with_stub \"$step\" && continue ;;\n"
    "  esac\n"
    "  eval \"$step\" || exit\n"
    "done\n";

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
