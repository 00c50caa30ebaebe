/*
 * man.c: man pages in roff, from the same tables as --help.
 *
 * A test compares the pages under docs/man/ with what this prints.
 */
#include "cli.h"

#include <ctype.h>
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
    if (cmd->examples) printf(".SH EXAMPLES\n.nf\n");
    for (const char *const *p = cmd->examples; p && *p; p++) roff_line(*p);
    if (cmd->examples) printf(".fi\n");
    roff_see_also(cmd);
}

static const struct term_row overview_urls[] = {
    {"file:", "this host and this user, no server: locks in "
              "/var/lib/holdfast for root, else in /var/tmp/holdfast-UID; a "
              "NAME with a slash is that very file, for all users, locked as "
              "flock(1) does"},
    {"file:/dir", "this host, locks in /dir; users who share it need a umask "
                  "that lets the others write"},
    {"redis://[user[:password]@]host[:port][/db]",
     "a Redis or Valkey server, 6.2 or later"},
    {"rediss://...",
     "the same over TLS; ?tls_ca=PATH names whom to trust instead of the "
     "system's authorities, &tls_cert=FILE&tls_key=FILE who we are, "
     "&tls_name=NAME whom the server's certificate must name instead of the "
     "host, &tls_key_password_file=FILE what opens the key; &tls_verify=off "
     "believes whoever answers"},
    {"redis+unix:///path/to.sock", "a Redis server on this host"},
    {"redis-sentinel://host[:port],host[:port],.../name[/db]",
     "the Redis primary that these Sentinels call by this name"},
    {"redis-cluster://[user[:password]@]host[:port],host[:port],...",
     "a Redis Cluster; one node that answers is enough to find the others"},
    {"memory:", "this process only, for trying things out"},
    {NULL, NULL}};

static const struct term_row overview_env[] = {
    {"HOLDFAST_URL", "where the locks live, if --url is not given"},
    {"HOLDFAST_URL_FILE", "a file whose first line is the URL"},
    {"HOLDFAST_PASSWORD", "the store's password"},
    {"HOLDFAST_PASSWORD_FILE",
     "a file whose first line is the store's password, read at every connect"},
    {"HOLDFAST_SENTINEL_PASSWORD", "the password of Redis Sentinels"},
    {"HOLDFAST_DIR", "the directory of file:, instead of those above"},
    {NULL, NULL}};

static const struct term_row overview_exits[] = {
    {"0", "done"},
    {"75", "not acquired: somebody else holds the lock"},
    {"80", "the lock was lost"},
    EXIT_ROWS_STORE,
    {NULL, NULL}};

void man_overview(void)
{
    roff_title("holdfast");
    printf(".SH NAME\nholdfast \\- distributed locks that tell the truth\n"
           ".SH SYNOPSIS\n.B holdfast\n");
    roff_line("COMMAND [options] ...");
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
    roff_see_also(NULL);
}
