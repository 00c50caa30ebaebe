/*
 * error.c: what the server's errors mean.  One rule: every error that a
 * server is known to give has a status and a sentence of its own, and the
 * server's own words stand behind it, unless they say less than the sentence.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "backend/redis/link/error.h"
#include "backend/redis/redis.h"
#include "base/error.h"

#define SAID_MAX 151 /* bytes of the server's own words, and the NUL */
#define NOT_PERMITTED "not permitted"
#define WRONG_TYPE "WRONGTYPE"
#define KEYS_SAID "one of the keys"
#define OF_CLUSTER "a cluster's node: use redis-cluster://"

static const struct meaning {
    const char *code;
    int status;
    const char *words;
} meanings[] = {
    {"WRONGPASS", HF_DENIED, "wrong user or password"},
    {"NOAUTH", HF_DENIED, "a password is needed"},
    {"ERR AUTH", HF_DENIED, "the server has no password"},
    {"ERR Client sent AUTH", HF_DENIED, "the server has no password"},
    {"ERR invalid password", HF_DENIED, "wrong password"},
    {"NOPERM", HF_DENIED, NOT_PERMITTED},
    {"ERR The user executing the script", HF_DENIED, NOT_PERMITTED},
    {"ERR ACL failure in script", HF_DENIED, NOT_PERMITTED},
    {"DENIED", HF_DENIED, "the server is in protected mode"},
    {"LOADING", HF_UNAVAILABLE, "the server is loading its data"},
    {"MASTERDOWN", HF_UNAVAILABLE, "the replica has lost its primary"},
    {"READONLY", HF_UNAVAILABLE, "the server is a read-only replica"},
    {"OOM", HF_UNAVAILABLE, "the server's memory is full"},
    {"MISCONF", HF_UNAVAILABLE, "the server cannot save and takes no writes"},
    {"NOREPLICAS", HF_UNAVAILABLE, "too few replicas are connected"},
    {"BUSY", HF_UNAVAILABLE, "the server is busy with a script"},
    {"UNKILLABLE", HF_UNAVAILABLE, "the server is busy with a script"},
    {"CLUSTERDOWN", HF_UNAVAILABLE, "the cluster is down"},
    {"TRYAGAIN", HF_UNAVAILABLE, "the cluster is moving the key"},
    {"ERR max number of clients", HF_UNAVAILABLE,
     "the server has too many clients"},
    {"MOVED", HF_UNSUPPORTED, OF_CLUSTER},
    {"ASK", HF_UNSUPPORTED, OF_CLUSTER},
    {"CROSSSLOT", HF_UNSUPPORTED, OF_CLUSTER},
    {WRONG_TYPE, HF_CONFLICT,
     "something that is no lock is stored there, or no lock of this URL's "
     "format (holdfast why says more)"},
    {"ERR DB index is out of range", HF_INVALID, "no such database"},
    {"ERR invalid DB index", HF_INVALID, "no such database"},
    {"ERR SELECT is not allowed", HF_INVALID, "a cluster has one database"},
    {"ERR syntax error", HF_UNSUPPORTED, "Redis 6.2 or later is needed"},
    {"ERR unknown command", HF_UNSUPPORTED, "Redis 6.2 or later is needed"},
};

static const struct meaning meaning_script = {"", HF_INTERNAL,
                                              "the script failed"};
static const struct meaning meaning_other = {"", HF_UNAVAILABLE,
                                             "the server refused"};

/* What the user lacks, by the error texts of servers from 6.2 to 8.  The first
 * that is found counts, because a later one may be part of a name. */
static const struct {
    const char *said;
    const char *words;
} rights[] = {
    {KEYS_SAID, "not permitted: the user lacks the lock's key, or "
                "redisson_lock_token:{...} for its fence"},
    {"access a key", "not permitted: the user lacks the lock's key, or "
                     "redisson_lock_token:{...} for its fence"},
    {"access a channel",
     "not permitted: the user lacks the channel redisson_lock__channel:{...}"},
    {"one of the channels",
     "not permitted: the user lacks the channel redisson_lock__channel:{...}"},
    {"in script: User",
     "not permitted: the user lacks a command that the script needs"},
    {" permissions to run ", "not permitted: the user lacks the command"},
    {" can't run this command",
     "not permitted: the user lacks a command that the script needs"},
    {"' key", "not permitted: the user lacks the key"},
    {"' channel", "not permitted: the user lacks the channel"},
};

static int says_keys(const char *text)
{
    return strstr(text, KEYS_SAID) || strstr(text, "access a key");
}

static const char *words_of(const struct meaning *m, const char *text,
                            const char *value_words)
{
    if (strcmp(m->words, NOT_PERMITTED) != 0) return m->words;
    if (value_words && says_keys(text)) return value_words;
    for (size_t i = 0; i < sizeof rights / sizeof rights[0]; i++)
        if (strstr(text, rights[i].said)) return rights[i].words;
    return m->words;
}

/* Before Redis 7, what went wrong inside a script stands in mid-text:
 * "ERR Error running script (call to f_...): @user_script:5: OOM ...". */
static int is_from_script(const char *text)
{
    return strstr(text, "user_script") != NULL;
}

static int is_word_at(const char *text, const char *at, const char *code)
{
    char after = at[strlen(code)];
    if (at != text && isalnum((unsigned char)at[-1])) return 0;
    return !isalnum((unsigned char)after);
}

static int is_in(const char *text, const char *code)
{
    for (const char *at = strstr(text, code); at; at = strstr(at + 1, code))
        if (is_word_at(text, at, code)) return 1;
    return 0;
}

static const struct meaning *meaning_of(const char *text)
{
    int wrapped = is_from_script(text);
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        const char *code = meanings[i].code;
        if (!strncmp(text, code, strlen(code)) && is_word_at(text, text, code))
            return &meanings[i];
    }
    for (size_t i = 0; wrapped && i < sizeof meanings / sizeof meanings[0];
         i++) {
        const char *code = meanings[i].code;
        /* Inside a script, "ERR" may have been left out. */
        if (!strncmp(code, "ERR ", 4)) code += 4;
        if (is_in(text, code)) return &meanings[i];
    }
    return wrapped ? &meaning_script : &meaning_other;
}

/* The server's words, for one line: its first sentence, cut at a word. */
static void words_copy(const struct resp *v, char out[SAID_MAX])
{
    size_t len = v->len < SAID_MAX ? v->len : SAID_MAX - 1;
    memcpy(out, v->text, len);
    out[len] = '\0';
    for (size_t i = 0; i < len; i++)
        if (iscntrl((unsigned char)out[i])) out[i] = '?';
    char *end = strstr(out, ". ");
    if (end)
        *end = '\0';
    else if (v->len >= SAID_MAX)
        hf__text_cut(out, SAID_MAX);
}

int hf__redis_error(const char *what, const char *value_key,
                    const struct resp *v, char text[HF_ERROR_TEXT_MAX])
{
    char said[SAID_MAX], key[140];
    snprintf(key, sizeof key, "not permitted: the user lacks the key %.90s",
             value_key ? value_key : "");
    words_copy(v, said);
    const struct meaning *m = meaning_of(v->text);
    int is_all = !strcmp(m->code, WRONG_TYPE);
    int len =
        snprintf(text, HF_ERROR_TEXT_MAX, "%s%s%s%s%s", what ? what : "",
                 what ? ": " : "", words_of(m, v->text, value_key ? key : NULL),
                 is_all ? "" : ": ", is_all ? "" : said);
    if (len >= HF_ERROR_TEXT_MAX) hf__text_cut(text, HF_ERROR_TEXT_MAX);
    return m->status;
}

int hf__redis_error_is_of_replica(const struct resp *v)
{
    const char *code = meaning_of(v->text)->code;
    return !strcmp(code, "READONLY") || !strcmp(code, "MASTERDOWN");
}

int hf__redis_error_is(const struct resp *v, const char *code)
{
    return v->type == RESP_ERROR && !strncmp(v->text, code, strlen(code));
}
