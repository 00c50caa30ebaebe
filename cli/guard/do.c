/*
 * guard/do.c: the actions of holdfast guard.  One rule: standard input is read
 * to its end before anything is changed.
 */
#include "guard/guard.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- texts ---- */

/* The place of `word` in a list of words with bars between, from 1; or 0. */
static int word_place(const char *list, const char *word)
{
    size_t len = strlen(word);
    for (int i = 1; *list; i++) {
        size_t n = strcspn(list, "|");
        if (n == len && memcmp(list, word, n) == 0) return i;
        list += n + (list[n] == '|');
    }
    return 0;
}

int guard_sql(const struct guard_call *g)
{
    static const char dialects[] = "postgres|mariadb|sqlite";
    static const char statements[] = "create|check|token|claim|still|verify";
    int dialect = word_place(dialects, g->words[0]);
    int statement = word_place(statements, g->words[1]);
    char what[160];
    if (dialect && statement) {
        printf("%s;\n", hf_guard_sql(dialect, statement));
        return output_end();
    }
    snprintf(what, sizeof(what), "sql: the %s must be one of %s",
             dialect ? "statement" : "dialect",
             dialect ? statements : dialects);
    return command_usage(g->self, what);
}

int guard_lua(const struct guard_call *g)
{
    (void)g;
    fputs(hf_guard_lua(), stdout);
    return output_end();
}

/* ---- standard input ---- */

struct input {
    char *data;
    size_t len, size;
};

static int input_grow(struct input *in)
{
    size_t size = in->size ? in->size * 2 : 65536;
    char *data = realloc(in->data, size);
    if (!data) return -1;
    in->data = data;
    in->size = size;
    return 0;
}

/* All of it: 0, or an exit code after having said what is wrong. */
static int input_read(struct input *in)
{
    for (;;) {
        if (in->len == in->size && input_grow(in) != 0) {
            say_error("standard input: out of memory");
            return EXIT_BUG;
        }
        ssize_t n = read(STDIN_FILENO, in->data + in->len, in->size - in->len);
        if (n == 0) return EXIT_OK;
        if (n > 0) {
            in->len += (size_t)n;
        } else if (errno != EINTR) {
            say_error("standard input: cannot be read: %s", strerror(errno));
            return EXIT_BUG;
        }
    }
}

/* ---- values on the store ---- */

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
    return code ? code : output_end();
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
    if (v.data) (void)fwrite(v.data, 1, v.len, stdout); /* output_end() */
    if (status == HF_OK) hf_value_free(s.client, &v);
    code = key_close(&s, status, &err);
    if (!code) code = output_end();
    return code ? code : is_absent ? EXIT_FREE : EXIT_OK;
}

/* ---- files ---- */

static int file_end(int status, const struct hf_error *err)
{
    char shown[2 * HF_ERROR_TEXT_MAX];
    if (status == HF_OK) return EXIT_OK;
    say_error("%s", text_escape(err->text, shown, sizeof(shown)));
    return status_exit(status);
}

int guard_file(const struct guard_call *g)
{
    struct input in = {0};
    struct hf_error err = {0};
    int code = input_read(&in);
    if (!code)
        code = file_end(
            hf_guard_file_replace(g->words[0], g->token, in.data, in.len, &err),
            &err);
    free(in.data);
    return code;
}

int guard_file_touch(const struct guard_call *g)
{
    struct hf_error err = {0};
    return file_end(hf_guard_file_touch(g->words[0], g->token, &err), &err);
}

int guard_file_token(const struct guard_call *g)
{
    struct hf_error err = {0};
    uint64_t token = 0;
    int status = hf_guard_file_token(g->words[0], &token, &err);
    if (status != HF_OK) return file_end(status, &err);
    printf("%" PRIu64 "\n", token);
    return output_end();
}
