/*
 * options_fuzz.c: any words on the command line of any command.  One rule: what
 * is taken is in its range, and what is shown of a word is safe to show.
 *
 * The first line is the command, each further one a word behind it.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "common/duration.h"
#include "common/json.h"
#include "common/say.h"
#include "common/text.h"
#include "option/wait.h"

#define WORDS_MAX 64
#define TEXT_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok)
{
    if (!ok) abort();
}

/* ---- instead of main.c and say.c ---- */

const struct command *const commands[] = {
    &cmd_run,     &cmd_once,   &cmd_elect, &cmd_acquire, &cmd_renew,
    &cmd_release, &cmd_status, &cmd_list,  &cmd_why,     &cmd_break,
    &cmd_init,    &cmd_doctor, &cmd_guard, &cmd_latch,   &cmd_barrier,
    &cmd_stress,  NULL,
};

const struct command *command_find(const char *name)
{
    for (size_t i = 0; commands[i]; i++)
        if (!strcmp(commands[i]->name, name)) return commands[i];
    return NULL;
}

void say_setup(int quiet, int verbose, int json_fd)
{
    (void)quiet;
    (void)verbose;
    (void)json_fd;
}

int say_json_fd(void)
{
    return -1;
}

int write_all(int fd, const char *buf, size_t len)
{
    (void)fd;
    (void)buf;
    (void)len;
    return 0;
}

void say_hasty(int is_hasty)
{
    (void)is_hasty;
}

void say_write(int fd, const char *buf, size_t len, int is_needed)
{
    (void)fd;
    (void)buf;
    (void)len;
    (void)is_needed;
}

/* What would be shown is written all the same: into nothing. */
static void say_nothing(const char *format, va_list args)
{
    char text[TEXT_MAX];
    vsnprintf(text, sizeof text, format, args);
    for (const char *p = text; *p; p++) check((unsigned char)*p >= 0x20);
}

void say_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say_nothing(format, args);
    va_end(args);
}

void say_warn(const char *format, ...)
{
    (void)format;
}

void say_note(const char *format, ...)
{
    (void)format;
}

/* ---- what was taken ---- */

static void options_check(const struct options *o)
{
    struct hf_acquire_options how = HF_ACQUIRE_OPTIONS_INIT;
    check(o->also.len <= TEXTS_MAX);
    check(o->conflict_code >= -1 && o->conflict_code <= 255);
    check(
        o->lease_ms == 0
        || (o->lease_ms >= HF_LEASE_MS_MIN && o->lease_ms <= HF_LEASE_MS_MAX));
    check(o->renew_ms >= 0 && o->grace_ms >= 0 && o->ttl_ms >= 0);
    check(o->min_hold_ms >= 0 && o->max_hold_ms >= 0 && o->time_ms >= 0);
    if (!o->backoff || backoff_parse(o->backoff, &how) != NULL) return;
    check(how.backoff_ms >= 0 && how.backoff_ms <= HF_LEASE_MS_MAX);
    check(how.backoff_factor >= 0 && how.backoff_factor <= 1000);
}

static void word_check(const char *word)
{
    static struct json j;
    char shown[64], time[32];
    int64_t ms = 0, number = 0;
    text_escape(word, shown, sizeof shown);
    check(strlen(shown) < sizeof shown);
    for (const char *p = shown; *p; p++) check((unsigned char)*p >= 0x20);
    json_begin(&j);
    json_text(&j, word, word);
    json_end(&j);
    check(j.len < sizeof j.buf && j.buf[j.len] == '\0');
    check(j.buf[0] == '{' && !strcmp(j.buf + j.len - 2, "}\n"));
    if (duration_parse(word, &ms) == 0) {
        check(ms >= 0);
        duration_text(ms, time, sizeof time);
    }
    if (number_parse(word, 3, 70, &number) == 0)
        check(number >= 3 && number <= 70);
}

static int words_split(char *text, char **words)
{
    int len = 0;
    for (char *at = text; at && len < WORDS_MAX;) {
        words[len++] = at;
        at = strchr(at, '\n');
        if (at) *at++ = '\0';
    }
    return len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[TEXT_MAX], *words[WORDS_MAX + 1];
    const char *rest[8];
    struct options o;
    if (size >= sizeof text) return 0;
    if (size > 0) memcpy(text, data, size);
    text[size] = '\0';
    int len = words_split(text, words);
    words[len] = NULL;
    for (int i = 0; i < len; i++) word_check(words[i]);
    const struct command *cmd = command_find(words[0]);
    if (!cmd) return 0;
    options_init(&o);
    int next = options_parse(cmd, len, words, 1, &o);
    check(next <= len);
    if (next > 0) options_check(&o);
    options_init(&o);
    check(options_words(cmd, len, words, &o, rest, 8) <= 8);
    return 0;
}
