/*
 * error.c: what the server's errors mean.  One rule: every error that an
 * operator can do something about has a status and a sentence of its own, and
 * the server's own words stand behind it.
 */
#include "backend/postgres/error.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "backend/sql/said.h"

#define CODE_LEN 5
#define INSTALL "run: holdfast install-schema URL"

/* The first row whose code is the beginning of the SQLSTATE counts. */
static const struct meaning {
    const char *code;
    int status;
    const char *words;
} meanings[] = {
    {"28P01", HF_DENIED, "wrong user or password"},
    {"28", HF_DENIED, "the server does not let this user in"},
    {"3D000", HF_INVALID, "no such database"},
    {"3F000", HF_INVALID, "no such schema: " INSTALL},
    {"42P01", HF_INVALID, "the tables are missing: " INSTALL},
    {"42703", HF_CONFLICT, "the tables are of another version: " INSTALL},
    {"42804", HF_CONFLICT, "the tables are of another version: " INSTALL},
    {"42501", HF_DENIED, "the user lacks a right"},
    {"42", HF_CONFLICT, "the tables are not what they should be"},
    {"25006", HF_UNAVAILABLE, "the server takes no writes"},
    {"40", HF_UNAVAILABLE, "the server could not finish the transaction"},
    {"53300", HF_UNAVAILABLE, "the server has too many clients"},
    {"53", HF_UNAVAILABLE, "the server lacks memory or disk space"},
    {"55P03", HF_UNAVAILABLE, "another transaction holds the row"},
    {"57014", HF_UNAVAILABLE, "the statement was cancelled"},
    {"57P03", HF_UNAVAILABLE, "the server is starting or shutting down"},
    {"57P", HF_UNAVAILABLE, "the server is shutting down"},
    {"0A000", HF_UNSUPPORTED, "the server does not know that"},
    {"08P01", HF_UNSUPPORTED, "the server does not understand"},
    {"", HF_UNAVAILABLE, "the server refused"},
};

static const struct meaning *meaning_of(const char *code)
{
    const struct meaning *m = meanings;
    while (strncmp(m->code, code, strlen(m->code)) != 0) m++;
    return m;
}

static int error_write(const char *code, const char *said,
                       char text[HF_ERROR_TEXT_MAX])
{
    char words[SAID_MAX];
    const struct meaning *m = meaning_of(code);
    hf__sql_said_copy(said, words);
    snprintf(text, HF_ERROR_TEXT_MAX, "%s: %s", m->words, words);
    return m->status;
}

int hf__postgres_error(const PGresult *result, char text[HF_ERROR_TEXT_MAX])
{
    const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *said = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    if (!said) said = PQresultErrorMessage(result);
    return error_write(code ? code : "", said ? said : "", text);
}

int hf__postgres_error_is_fatal(const PGresult *result)
{
    const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    /* Without a code it is libpq's own: the connection is gone. */
    return !code || !strncmp(code, "57P", 3) || !strncmp(code, "08", 2);
}

int hf__postgres_error_is_passing(const PGresult *result)
{
    const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    /* 40003: it cannot be known whether it was carried out. */
    return code && !strncmp(code, "40", 2) && strcmp(code, "40003") != 0;
}

int hf__postgres_error_is_locked(const PGresult *result)
{
    const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    return code && !strcmp(code, "55P03");
}

/* In libpq's text of a failed connection, "FATAL:  28P01: no such ...": where
 * the code begins, or NULL.  The word before it may be in any language. */
static const char *code_find(const char *said)
{
    for (const char *at = strstr(said, ":  "); at; at = strstr(at + 1, ":  ")) {
        const char *code = at + 3;
        size_t n = 0;
        while (n < CODE_LEN
               && (isdigit((unsigned char)code[n])
                   || isupper((unsigned char)code[n])))
            n++;
        if (n == CODE_LEN && code[n] == ':') return code;
    }
    return NULL;
}

/* What stands behind the address in libpq's text, if it names one. */
static const char *reason_of(const char *said)
{
    const char *at = strstr(said, " failed: ");
    return at ? at + strlen(" failed: ") : said;
}

static int is_about_certificate(const char *said)
{
    return strstr(said, "certificate") != NULL;
}

int hf__postgres_error_link(PGconn *pg, char text[HF_ERROR_TEXT_MAX])
{
    char words[SAID_MAX];
    const char *said = PQerrorMessage(pg);
    const char *code = code_find(said);
    if (code) return error_write(code, code + CODE_LEN + 2, text);
    if (PQconnectionNeedsPassword(pg)) {
        snprintf(text, HF_ERROR_TEXT_MAX, "a password is needed");
        return HF_DENIED;
    }
    hf__sql_said_copy(reason_of(said), words);
    snprintf(text, HF_ERROR_TEXT_MAX, "%s", words);
    return is_about_certificate(said) ? HF_DENIED : HF_UNAVAILABLE;
}
