/*
 * manual/help.c: --help, printed from a command's table.
 */
#include "manual/help.h"

#include <stdio.h>
#include <string.h>

#define LINE_MAX_COLUMNS 79
#define OPTION_COLUMN 30

/* Print `text` from column `at`, wrapped, further lines from `indent`. */
static void wrap_text(FILE *out, const char *text, size_t at, size_t indent)
{
    for (;;) {
        size_t len = strcspn(text, " ");
        if (at > indent && at + len > LINE_MAX_COLUMNS) {
            fprintf(out, "\n%*s", (int)indent, "");
            at = indent;
        }
        fprintf(out, "%.*s", (int)len, text);
        at += len;
        text += len;
        if (!*text) break;
        text++;
        if (at + 1 + strcspn(text, " ") <= LINE_MAX_COLUMNS) {
            fputc(' ', out);
            at++;
        } else {
            fprintf(out, "\n%*s", (int)indent, "");
            at = indent;
        }
    }
    fputc('\n', out);
}

static void help_row(FILE *out, const char *term, const char *text,
                     size_t column)
{
    size_t len = strlen(term) + 2;
    fprintf(out, "  %s", term);
    if (len + 2 > column) {
        fputc('\n', out);
        len = 0;
    }
    fprintf(out, "%*s", (int)(column - len), "");
    wrap_text(out, text, column, column);
}

static void help_terms(FILE *out, const char *title,
                       const struct term_row *rows, size_t column)
{
    if (!rows) return;
    fprintf(out, "\n%s:\n", title);
    for (; rows->term; rows++) help_row(out, rows->term, rows->text, column);
}

static void help_examples(FILE *out, const char *const *lines)
{
    if (!lines) return;
    fprintf(out, "\nexamples:\n");
    for (; *lines; lines++) fprintf(out, "  %s\n", *lines);
}

void help_command(const struct command *cmd, FILE *out)
{
    char spelling[128];
    fprintf(out, "usage: holdfast %s%s%s\n\n", cmd->name,
            cmd->usage[0] ? " " : "", cmd->usage);
    for (const char *const *p = cmd->about; p && *p; p++) {
        wrap_text(out, *p, 0, 0);
        if (p[1]) fputc('\n', out);
    }
    if (cmd->options_len) fprintf(out, "\noptions:\n");
    for (size_t i = 0; i < cmd->options_len; i++) {
        const struct option_row *row = &cmd->options[i];
        help_row(out, option_spelling(row, spelling, sizeof(spelling)),
                 row->help, OPTION_COLUMN);
    }
    help_terms(out, "environment", cmd->env, OPTION_COLUMN);
    help_terms(out, "exit status", cmd->exits, 10);
    help_examples(out, cmd->examples);
}

void help_commands(FILE *out)
{
    fprintf(
        out,
        "usage: holdfast [-p PROFILE] [--config FILE] COMMAND [options] ...\n\n"
        "Distributed locks that tell the truth.\n\ncommands:\n");
    for (size_t i = 0; commands[i]; i++) {
        if (!commands[i]->hidden)
            help_row(out, commands[i]->name, commands[i]->summary, 12);
    }
    fprintf(out, "\nholdfast help COMMAND explains one of them.\n");
}

void help_overview(FILE *out)
{
    help_commands(out);
    help_terms(out, "where the locks live (--url)", overview_urls, 6);
    help_terms(out, "environment", overview_env, OPTION_COLUMN);
    help_examples(out, overview_examples);
}
