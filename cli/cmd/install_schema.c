/*
 * cmd/install_schema.c: make the tables of a store in a database, or print the
 * statements that do.
 */
#include "command.h"
#include "common/exit.h"
#include "common/say.h"
#include "option/rows.h"
#include "session/session.h"

#include <stdio.h>

static void statement_print(const char *statement, void *user)
{
    (void)user;
    printf("%s;\n", statement);
}

static int schema_do(const struct session *s, const struct options *o,
                     const char *url)
{
    struct hf_client_options c = HF_CLIENT_OPTIONS_INIT;
    struct hf_error err = {0};
    c.user = session_user(s);
    c.password = session_password(s);
    c.password_file = session_password_file(s);
    int status = o->print ? hf_schema_text(url, statement_print, NULL, &err)
                          : hf_schema_install(url, &c, &err);
    if (status == HF_OK && !o->print && !o->quiet) puts("the tables are there");
    if (status == HF_OK) return stdout_end();
    char shown[2 * HF_ERROR_TEXT_MAX];
    say_error("install-schema: %s",
              text_escape(err.text, shown, sizeof(shown)));
    return status_exit(status);
}

static int schema_main(const struct command *self, int argc, char **argv)
{
    struct options o;
    struct session s = {0};
    const char *words[1], *url = NULL;
    int code = command_begin(self, argc, argv, &o, words, 0, 1);
    if (code >= 0) return code;
    if (words[0] && o.url) return command_usage(self, "the URL is given twice");
    if (words[0]) o.url = words[0];
    code = session_url(&s, &o, &url);
    if (code) return code;
    if (!url) return command_usage(self, "the URL of a database is missing");
    return schema_do(&s, &o, url);
}

static const struct option_row schema_options[] = {
    {"", "print", NULL, OPTION_FLAG, FIELD(print), 1, 0, 0,
     "print the statements, and connect to no server"},
    {"", "url", "URL", OPTION_TEXT, FIELD(url), 0, 0, 0,
     "the URL, if it is not an argument; default: $HOLDFAST_URL"},
    {"", "url-file", "FILE", OPTION_TEXT, FIELD(url_file), 0, 0, 0,
     "read the URL from the first line of FILE; default: $HOLDFAST_URL_FILE"},
    OPTION_ROW_TALK,
};

static const char *const schema_about[] = {
    "Make the tables holdfast_lock and holdfast_meta in the database of URL "
    "(postgres://user@host/database, mysql://user@host/database), unless they "
    "are there. Its user must be "
    "allowed to create tables; clients that only take locks need SELECT, "
    "INSERT and UPDATE on both.",
    "With layout=shedlock in the URL, it is ShedLock's table shedlock.",
    "A new file of SQLite needs no such command: its tables are made with it.",
    "With --print, the statements are printed instead, to be run by other "
    "means.",
    NULL};

static const struct term_row schema_exits[] = {
    {"0", "the tables are there"}, EXIT_ROWS_STORE, {NULL, NULL}};

static const struct term_row schema_env[] = {
    {"HOLDFAST_URL", "the URL, if none is given"},
    {"HOLDFAST_URL_FILE", "a file with the URL, if HOLDFAST_URL is not set"},
    {"HOLDFAST_USER", "the user, instead of the URL's"},
    {"HOLDFAST_PASSWORD", "the password, so that ps(1) does not show it"},
    {"HOLDFAST_PASSWORD_FILE", "a file whose first line is that password"},
    {NULL, NULL}};

static const char *const schema_examples[] = {
    "holdfast install-schema postgres://admin@db1/app",
    "holdfast install-schema mysql://admin@db2/app",
    "holdfast install-schema sqlite:/var/lib/app/app.db",
    "holdfast install-schema --print postgres://db1/app | psql app", NULL};

const struct command cmd_install_schema = {
    .name = "install-schema",
    .summary = "make the tables of a store in a database",
    .usage = "[options] [URL]",
    .about = schema_about,
    OPTIONS(schema_options),
    .exits = schema_exits,
    .env = schema_env,
    .examples = schema_examples,
    .run = schema_main,
};
