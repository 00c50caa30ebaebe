/*
 * cmd/complete.c: print completions for a shell (hidden: for building
 * packages), and the words that these ask for while a user types.
 *
 * One rule: the scripts only split lines; no shell ever expands a word that
 * holdfast prints.
 */
#include "command.h"
#include "common/exit.h"
#include "common/say.h"
#include "manual/complete.h"
#include "session/session.h"

#include <stdio.h>
#include <string.h>

/* The script splits the line at blanks only.  Readline replaces only what is
 * behind the last of its own word breaks, so the rest is cut off. */
static const char bash_script[] =
    "# bash completion for holdfast\n"
    "_holdfast()\n"
    "{\n"
    "    local line=${COMP_LINE:0:COMP_POINT} word head= breaks\n"
    "    local -a given\n"
    "    read -ra given <<<\"$line\"\n"
    "    while ((${#given[@]} > 1)) && [[ ${given[0]} != "
    "\"${COMP_WORDS[0]}\" ]]; do\n"
    "        given=(\"${given[@]:1}\")\n"
    "    done\n"
    "    [[ $line != *[[:blank:]] ]] || given+=('')\n"
    "    word=${given[${#given[@]} - 1]}\n"
    "    breaks=${COMP_WORDBREAKS//[^:=@]/}\n"
    "    [[ -z $breaks ]] || head=${word%\"${word##*[$breaks]}\"}\n"
    "    COMPREPLY=()\n"
    "    while IFS=$'\\t' read -r word _; do\n"
    "        COMPREPLY+=(\"${word#\"$head\"}\")\n"
    "    done < <(command holdfast __complete words \"${given[@]:1}\" "
    "2>/dev/null)\n"
    "}\n"
    "complete -o default -F _holdfast holdfast\n";

/* After "--" zsh completes the words of the command that holdfast runs. */
static const char zsh_script[] =
    "#compdef holdfast\n"
    "# zsh completion for holdfast\n"
    "_holdfast() {\n"
    "    local -a lines found\n"
    "    local line\n"
    "    local -i at=${words[(i)--]}\n"
    "    if (( at < CURRENT )); then\n"
    "        words=(\"${(@)words[at+1,-1]}\")\n"
    "        (( CURRENT -= at ))\n"
    "        _normal\n"
    "        return\n"
    "    fi\n"
    "    lines=(${(f)\"$(command holdfast __complete words "
    "\"${(@)words[2,CURRENT-1]}\" \"$PREFIX\" 2>/dev/null)\"})\n"
    "    if (( ! ${#lines} )); then\n"
    "        _default\n"
    "        return\n"
    "    fi\n"
    "    for line in \"${(@)lines}\"; do\n"
    "        found+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\")\n"
    "    done\n"
    "    _describe holdfast found\n"
    "}\n"
    "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n"
    "    _holdfast \"$@\"\n"
    "else\n"
    "    compdef _holdfast holdfast\n"
    "fi\n";

static const char fish_script[] =
    "# fish completion for holdfast\n"
    "function __holdfast_look\n"
    "    set -l before (commandline -opc)\n"
    "    set -l word (commandline -ct)\n"
    "    set -g __holdfast_found (command holdfast __complete words "
    "$before[2..-1] \"$word\" 2>/dev/null)\n"
    "    test (count $__holdfast_found) -gt 0\n"
    "end\n"
    "complete -c holdfast -n __holdfast_look -f "
    "-a '(string join \\n -- $__holdfast_found)'\n";

/* ---- names ---- */

static int name_print(const struct hf_list_row *row, void *user)
{
    (void)user;
    if (name_is_plain(row->name, row->name_len)) printf("%s\n", row->name);
    return 0;
}

static int names_print(const struct options *o)
{
    struct session s;
    int code = session_open(&s, o, NULL, HF_CLIENT_OWN_LOOP, NULL, NULL);
    if (code) return code;
    int status = hf_client_list(s.client, NULL, name_print, NULL, NULL);
    session_close(&s);
    return status == HF_OK ? stdout_end() : status_exit(status);
}

static int complete_main(const struct command *self, int argc, char **argv)
{
    struct options o;
    const char *words[1];
    if (argc > 1 && strcmp(argv[1], "words") == 0) {
        say_setup(1, 0, -1);
        words_complete(argc - 2, argv + 2);
        return stdout_end();
    }
    int code = command_begin(self, argc, argv, &o, words, 1, 1);
    if (code >= 0) return code;
    if (strcmp(words[0], "names") == 0) return names_print(&o);
    if (strcmp(words[0], "bash") == 0) {
        fputs(bash_script, stdout);
    } else if (strcmp(words[0], "zsh") == 0) {
        fputs(zsh_script, stdout);
    } else if (strcmp(words[0], "fish") == 0) {
        fputs(fish_script, stdout);
    } else {
        say_error("__complete: bash, zsh, fish, names or words");
        return EXIT_USAGE;
    }
    return stdout_end();
}

static const char *const complete_about[] = {
    "Print completions for SHELL: bash, zsh or fish.", NULL};

const struct command cmd_complete = {
    .name = "__complete",
    .summary = "print completions for a shell",
    .usage = "SHELL",
    .about = complete_about,
    .hidden = 1,
    .run = complete_main,
};
