/*
 * cmd_complete.c: print completions for a shell, from the option tables
 * (hidden: for those who build packages), and the names of locks for them.
 */
#include "cli.h"

#include <string.h>

/* Call `fn` for each long name of each option of `cmd`. */
static void names_each(const struct command *cmd,
                       void (*fn)(const struct option_row *row,
                                  const char *name, size_t len))
{
    for (size_t i = 0; i < cmd->options_len; i++) {
        const struct option_row *row = &cmd->options[i];
        for (const char *p = row->names; *p;) {
            size_t len = word_len(p);
            fn(row, p, len);
            p += len + (p[len] == ' ');
        }
    }
}

/* `text` within single quotes of a shell, or within zsh's brackets. */
static void print_plain(const char *text)
{
    for (; *text; text++) {
        if (strchr("'[]:\\", *text))
            putchar(' ');
        else
            putchar(*text);
    }
}

static void print_commands(const char *between)
{
    int first = 1;
    for (size_t i = 0; commands[i]; i++) {
        if (commands[i]->hidden) continue;
        printf("%s%s", first ? "" : between, commands[i]->name);
        first = 0;
    }
}

/* ---- bash ---- */

static void bash_name(const struct option_row *row, const char *name,
                      size_t len)
{
    (void)row;
    printf(" --%.*s", (int)len, name);
}

static void bash_print(void)
{
    printf("# bash completion for holdfast\n_holdfast()\n{\n"
           "    local cur=${COMP_WORDS[COMP_CWORD]} words=\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        words='");
    print_commands(" ");
    printf("'\n    else\n        case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; commands[i]; i++) {
        if (commands[i]->hidden) continue;
        printf("        %s) words='", commands[i]->name);
        names_each(commands[i], bash_name);
        if (commands[i] == &cmd_help) {
            putchar(' ');
            print_commands(" ");
        }
        printf("' ;;\n");
    }
    printf("        esac\n        case $cur in\n        -*) ;;\n"
           "        *) words=\"$words $(holdfast __complete names "
           "2>/dev/null)\" ;;\n        esac\n    fi\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\n"
           "complete -o default -F _holdfast holdfast\n");
}

/* ---- zsh ---- */

/* ":TIME:", or the words there are to choose from. */
static void zsh_value(const struct option_row *row)
{
    print_plain(row->kind == OPTION_CHOICE ? "WORD" : row->value);
    putchar(':');
    if (row->kind != OPTION_CHOICE) return;
    putchar('(');
    for (const char *p = row->value; *p; p++) putchar(*p == '|' ? ' ' : *p);
    putchar(')');
}

static void zsh_name(const struct option_row *row, const char *name, size_t len)
{
    printf("            '--%.*s%s[", (int)len, name, row->value ? "=" : "");
    print_plain(row->help);
    printf("]%s", row->value ? ":" : "");
    if (row->value) zsh_value(row);
    printf("' \\\n");
}

static void zsh_print(void)
{
    printf("#compdef holdfast\n# zsh completion for holdfast\n"
           "_holdfast() {\n    local -a cmds\n    cmds=(\n");
    for (size_t i = 0; commands[i]; i++) {
        if (commands[i]->hidden) continue;
        printf("        '%s:", commands[i]->name);
        print_plain(commands[i]->summary);
        printf("'\n");
    }
    printf("    )\n    if (( CURRENT == 2 )); then\n"
           "        _describe command cmds\n        return\n    fi\n"
           "    case $words[2] in\n");
    for (size_t i = 0; commands[i]; i++) {
        if (commands[i]->hidden) continue;
        printf("    %s)\n        _arguments \\\n", commands[i]->name);
        names_each(commands[i], zsh_name);
        printf("            '*:lock:($(holdfast __complete names "
               "2>/dev/null))'\n        ;;\n");
    }
    printf("    esac\n}\n_holdfast \"$@\"\n");
}

/* ---- fish ---- */

static const struct command *fish_command;

static void fish_name(const struct option_row *row, const char *name,
                      size_t len)
{
    printf("complete -c holdfast -n '__fish_seen_subcommand_from %s' "
           "-l %.*s%s -d '",
           fish_command->name, (int)len, name, row->value ? " -r" : "");
    print_plain(row->help);
    printf("'\n");
}

static void fish_print(void)
{
    printf("# fish completion for holdfast\n");
    for (size_t i = 0; commands[i]; i++) {
        if (commands[i]->hidden) continue;
        printf("complete -c holdfast -f -n __fish_use_subcommand -a %s -d '",
               commands[i]->name);
        print_plain(commands[i]->summary);
        printf("'\n");
        fish_command = commands[i];
        names_each(commands[i], fish_name);
        if (commands[i]->takes_lock)
            printf("complete -c holdfast -n '__fish_seen_subcommand_from %s' "
                   "-a '(holdfast __complete names 2>/dev/null)'\n",
                   commands[i]->name);
    }
}

/* ---- names ---- */

/* Names that a shell would take apart are left out. */
static int name_print(const struct hf_list_row *row, void *user)
{
    (void)user;
    for (size_t i = 0; i < row->name_len; i++) {
        unsigned char c = (unsigned char)row->name[i];
        if (c <= ' ' || c >= 0x7f || strchr("'\"\\$`;&|<>()*?[]#~", c))
            return 0;
    }
    printf("%s\n", row->name);
    return 0;
}

static int names_print(const struct options *o)
{
    struct session s;
    int code = session_open(&s, o, NULL, HF_CLIENT_OWN_LOOP, NULL, NULL);
    if (code) return code;
    int status = hf_client_list(s.client, NULL, name_print, NULL, NULL);
    session_close(&s);
    return status == HF_OK ? output_end() : status_exit(status);
}

static int complete_main(const struct command *self, int argc, char **argv)
{
    struct options o;
    const char *words[1];
    int code = command_begin(self, argc, argv, &o, words, 1, 1);
    if (code >= 0) return code;
    if (strcmp(words[0], "names") == 0) return names_print(&o);
    if (strcmp(words[0], "bash") == 0) {
        bash_print();
    } else if (strcmp(words[0], "zsh") == 0) {
        zsh_print();
    } else if (strcmp(words[0], "fish") == 0) {
        fish_print();
    } else {
        say_error("__complete: bash, zsh, fish or names");
        return EXIT_USAGE;
    }
    return output_end();
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
