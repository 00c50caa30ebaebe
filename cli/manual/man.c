/*
 * manual/man.c: man pages in roff, from the same tables as --help.
 *
 * A test compares the pages under docs/man/ with what this prints.
 */
#include "manual/help.h"
#include "manual/man.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Text for roff: no escapes of its own, no line that looks like a request. */
static void roff_text(const char *text)
{
    int line_start = 1;
    for (; *text; text++) {
        if (line_start && (*text == '.' || *text == '\'')) fputs("\\&", stdout);
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
        line_start = *text == '\n';
    }
}

static void roff_line(const char *text)
{
    roff_text(text);
    putchar('\n');
}

static void roff_title(const char *page)
{
    printf(".\\\" Printed by holdfast __man; do not edit.\n.TH ");
    for (const char *p = page; *p; p++) putchar(toupper((unsigned char)*p));
    printf(" 1 \"\" \"holdfast %s\" \"User Commands\"\n", HF_VERSION);
}

static void roff_terms(const char *title, const struct term_row *rows)
{
    if (!rows) return;
    printf(".SH %s\n", title);
    for (; rows->term; rows++) {
        printf(".TP\n.B ");
        roff_line(rows->term);
        roff_line(rows->text);
    }
}

static void roff_options(const struct command *cmd)
{
    char spelling[128];
    if (!cmd->options_len) return;
    printf(".SH OPTIONS\n");
    for (size_t i = 0; i < cmd->options_len; i++) {
        printf(".TP\n.B ");
        roff_line(
            option_spelling(&cmd->options[i], spelling, sizeof(spelling)));
        roff_line(cmd->options[i].help);
    }
}

static void roff_see_also(const struct command *self)
{
    printf(".SH SEE ALSO\n");
    if (self) printf(".BR holdfast (1)");
    int first = !self;
    for (size_t i = 0; commands[i]; i++) {
        if (commands[i]->hidden || commands[i] == self) continue;
        printf("%s.BR holdfast\\-%s (1)", first ? "" : ",\n",
               commands[i]->name);
        first = 0;
    }
    printf(",\n.BR flock (1)\n");
}

static void roff_examples(const char *const *lines)
{
    if (!lines) return;
    printf(".SH EXAMPLES\n.nf\n");
    for (; *lines; lines++) roff_line(*lines);
    printf(".fi\n");
}

void man_command(const struct command *cmd)
{
    char page[64];
    snprintf(page, sizeof(page), "holdfast-%s", cmd->name);
    roff_title(page);
    printf(".SH NAME\nholdfast\\-%s \\- ", cmd->name);
    roff_line(cmd->summary);
    printf(".SH SYNOPSIS\n.B holdfast %s\n", cmd->name);
    if (cmd->usage[0]) roff_line(cmd->usage);
    printf(".SH DESCRIPTION\n");
    for (const char *const *p = cmd->about; p && *p; p++) {
        if (p != cmd->about) printf(".PP\n");
        roff_line(*p);
    }
    roff_options(cmd);
    roff_terms("ENVIRONMENT", cmd->env);
    roff_terms("EXIT STATUS", cmd->exits);
    roff_examples(cmd->examples);
    roff_see_also(cmd);
}

void man_overview(void)
{
    roff_title("holdfast");
    printf(".SH NAME\nholdfast \\- distributed locks that tell the truth\n"
           ".SH SYNOPSIS\n.B holdfast\n");
    roff_line("[-p PROFILE] [--config FILE] [--require LEVEL] COMMAND "
              "[options] ...");
    printf(".SH DESCRIPTION\n");
    roff_line("One lock that works on one host with no server, and among many "
              "hosts with one. Every grant has a fencing token, a number that "
              "rises and that a resource can check.");
    printf(".SH COMMANDS\n");
    for (size_t i = 0; commands[i]; i++) {
        if (commands[i]->hidden) continue;
        printf(".TP\n.BR holdfast\\-%s (1)\n", commands[i]->name);
        roff_line(commands[i]->summary);
    }
    roff_terms("WHERE THE LOCKS LIVE", overview_urls);
    roff_terms("ENVIRONMENT", overview_env);
    roff_terms("EXIT STATUS", overview_exits);
    roff_examples(overview_examples);
    roff_see_also(NULL);
}
