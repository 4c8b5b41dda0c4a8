/* cmd_completion.c — grader completion bash|zsh: prints a completion script for the shell, with the
 * commands, options and exercises that this program knows. */
#include "grader/cli/commands.h"

#include <stdio.h>
#include <string.h>

static void add_exercises(struct buf *out) {
    for (unsigned i = 0; i < book_count(); i++) {
        const char *name = strrchr(book_at(i)->name, '/');
        buf_printf(out, "%s%s", i ? " " : "", name ? name + 1 : book_at(i)->name);
    }
}

static const char bash_script[] =
    "# bash completion for grader, by `grader completion bash`\n"
    "_grader() {\n"
    "    local word=${COMP_WORDS[COMP_CWORD]}\n"
    "    if [[ $word == -* ]]; then\n"
    "        COMPREPLY=($(compgen -W '%s' -- \"$word\"))\n"
    "    elif ((COMP_CWORD == 1)); then\n"
    "        COMPREPLY=($(compgen -W '%s' -- \"$word\"))\n"
    "    else\n"
    "        COMPREPLY=($(compgen -W '%s' -- \"$word\") $(compgen -f -- \"$word\"))\n"
    "    fi\n"
    "}\n"
    "complete -o filenames -F _grader grader\n";

static const char zsh_script[] = "#compdef grader\n"
                                 "# zsh completion for grader, by `grader completion zsh`\n"
                                 "if [[ $words[CURRENT] == -* ]]; then\n"
                                 "    compadd -- %s\n"
                                 "elif ((CURRENT == 2)); then\n"
                                 "    compadd -- %s\n"
                                 "else\n"
                                 "    compadd -- %s\n"
                                 "    _files\n"
                                 "fi\n";

int cmd_completion(const struct options *o) {
    struct err e = {0};
    struct buf options = {0}, commands = {0}, exercises = {0};
    const char *shell = o->noperands == 1 ? o->operands[0] : "";
    const char *script = !strcmp(shell, "bash")  ? bash_script
                         : !strcmp(shell, "zsh") ? zsh_script
                                                 : NULL;
    if (!script)
        return err_set(&e, ERR_INPUT, "completion takes the name of a shell: bash or zsh"),
               cli_report_error(&e);
    options_append_names(&options);
    cli_append_commands(&commands);
    add_exercises(&exercises);
    printf(script, buf_str(&options), buf_str(&commands), buf_str(&exercises));
    buf_free(&options);
    buf_free(&commands);
    buf_free(&exercises);
    return EXIT_PASSED;
}
