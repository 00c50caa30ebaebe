/*
 * guard/value.c: guarded values on the store.  One rule: standard input is read
 * to its end before anything is changed.
 */
#include "common/exit.h"
#include "common/say.h"
#include "guard/guard.h"
#include "session/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int key_open(const struct guard_call *g, struct session *s)
{
    int code = session_open(s, g->o, NULL, HF_CLIENT_OWN_LOOP, NULL, NULL);
    if (code) return code;
    text_escape(g->words[0], s->shown, sizeof(s->shown));
    if (!session_has_no(s, HF_CAP_GUARD, "guard",
                        "guard the resource where it is: --url redis://HOST "
                        "of the server that has the value, or guard file, "
                        "sql or lua; the quorum's fence is good for all"))
        return EXIT_OK;
    session_close(s);
    return EXIT_CONFIG;
}

static int key_close(struct session *s, int status, const struct hf_error *err)
{
    int code = EXIT_OK;
    if (status != HF_OK)
        code = session_fail(s, status, err);
    else
        say_note("%s: done", s->shown);
    session_close(s);
    return code;
}

int guard_touch(const struct guard_call *g)
{
    struct session s;
    struct hf_error err = {0};
    int code = key_open(g, &s);
    if (code) return code;
    int status = hf_guard_touch(s.client, g->words[0], g->token, &err);
    return key_close(&s, status, &err);
}

int guard_delete(const struct guard_call *g)
{
    struct session s;
    struct hf_error err = {0};
    int code = key_open(g, &s);
    if (code) return code;
    int status = hf_guard_delete(s.client, g->words[0], g->token, &err);
    return key_close(&s, status, &err);
}

static int value_set(const struct guard_call *g, const char *data, size_t len)
{
    struct session s;
    struct hf_error err = {0};
    int code = key_open(g, &s);
    if (code) return code;
    int status = hf_guard_set(s.client, g->words[0], g->token, data, len,
                              g->o->ttl_ms, &err);
    return key_close(&s, status, &err);
}

int guard_set(const struct guard_call *g)
{
    struct input in = {0};
    if (strcmp(g->words[1], "-") != 0)
        return value_set(g, g->words[1], strlen(g->words[1]));
    int code = input_read(&in);
    if (!code) code = value_set(g, in.data, in.len);
    free(in.data);
    return code;
}

int guard_token(const struct guard_call *g)
{
    struct session s;
    struct hf_error err = {0};
    uint64_t token;
    int code = key_open(g, &s);
    if (code) return code;
    int status = hf_guard_token(s.client, g->words[0], &token, &err);
    if (status == HF_OK) printf("%" PRIu64 "\n", token);
    code = key_close(&s, status, &err);
    return code ? code : stdout_end();
}

int guard_get(const struct guard_call *g)
{
    struct session s;
    struct hf_error err = {0};
    struct hf_value v = HF_VALUE_INIT;
    int code = key_open(g, &s);
    if (code) return code;
    int status = hf_guard_read(s.client, g->words[0], &v, &err);
    int is_absent = status == HF_OK && !v.data;
    if (v.data) (void)fwrite(v.data, 1, v.len, stdout); /* stdout_end() */
    if (status == HF_OK) hf_value_free(s.client, &v);
    code = key_close(&s, status, &err);
    if (!code) code = stdout_end();
    return code ? code : is_absent ? EXIT_FREE : EXIT_OK;
}
