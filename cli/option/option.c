/*
 * option/option.c: the one reader of options, driven by a command's table.
 *
 * It follows getopt_long: -w5, -w 5, -nw 5, --wait=5, --wait 5, "--" ends the
 * options.  Every refusal names the option and says why.
 */
#include "command.h"
#include "common/duration.h"
#include "common/say.h"
#include "common/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void options_init(struct options *o)
{
    memset(o, 0, sizeof(*o));
    o->wait_ms = -1;
    o->conflict_code = -1;
}

size_t word_len(const char *names)
{
    return strcspn(names, " ");
}

const struct option_row *option_by_letter(const struct command *cmd,
                                          char letter)
{
    for (size_t i = 0; i < cmd->options_len; i++) {
        const struct option_row *row = &cmd->options[i];
        if (letter && strchr(row->letters, letter)) return row;
    }
    return NULL;
}

static int names_have(const char *names, const char *name, size_t len)
{
    while (*names) {
        size_t n = word_len(names);
        if (n == len && memcmp(names, name, len) == 0) return 1;
        names += n;
        if (*names) names++;
    }
    return 0;
}

const struct option_row *option_by_name(const struct command *cmd,
                                        const char *name, size_t len)
{
    for (size_t i = 0; i < cmd->options_len; i++) {
        if (names_have(cmd->options[i].names, name, len))
            return &cmd->options[i];
    }
    return NULL;
}

const char *option_spelling(const struct option_row *row, char *out,
                            size_t size)
{
    size_t len = 0;
    for (const char *p = row->letters; *p; p++) {
        len += (size_t)snprintf(out + len, size - len, "%s-%c", len ? ", " : "",
                                *p);
    }
    for (const char *p = row->names; *p;) {
        size_t n = word_len(p);
        len += (size_t)snprintf(out + len, size - len, "%s--%.*s",
                                len ? ", " : "", (int)n, p);
        p += n + (p[n] == ' ');
    }
    if (row->kind == OPTION_JSON)
        snprintf(out + len, size - len, "[=%s]", row->value);
    else if (row->value)
        snprintf(out + len, size - len, " %s", row->value);
    return out;
}

static int usage_error(const struct command *cmd, const char *option,
                       const char *why)
{
    char shown[256];
    say_error("%s: %s: %s; see holdfast help %s", cmd->name,
              text_escape(option, shown, sizeof(shown)), why, cmd->name);
    return -1;
}

/* The same about its value, which is shown as it was given: "-w soon", or
 * "--wait=soon" as one word. */
static int value_error(const struct command *cmd, const char *option,
                       const char *value, const char *why)
{
    char both[256];
    size_t len = strlen(option), value_len = strlen(value);
    int is_one_word = len > value_len + 1 && option[len - value_len - 1] == '='
                      && strcmp(option + len - value_len, value) == 0;
    if (is_one_word) return usage_error(cmd, option, why);
    snprintf(both, sizeof(both), "%s %s", option, *value ? value : "''");
    return usage_error(cmd, both, why);
}

static int range_error(const struct command *cmd, const char *option,
                       const char *value, const char *what, int64_t limit_ms)
{
    char time[32], why[80];
    snprintf(why, sizeof(why), "%s %s", what,
             duration_text(limit_ms, time, sizeof(time)));
    return value_error(cmd, option, value, why);
}

static int duration_set(const struct command *cmd, const struct option_row *row,
                        const char *option, const char *value, int64_t *out)
{
    int64_t ms;
    if (duration_parse(value, &ms) != 0)
        return value_error(cmd, option, value,
                           "not a time; such as 90, 250ms, 10s, 1h30m, 1d, 1w");
    if (ms < row->min)
        return range_error(cmd, option, value, "too short: at least", row->min);
    if (ms > row->max)
        return range_error(cmd, option, value, "too long: at most", row->max);
    *out = ms;
    return 0;
}

static int wait_set(const struct command *cmd, const struct option_row *row,
                    const char *option, const char *value, int64_t *out)
{
    if (strcmp(value, "forever") != 0)
        return duration_set(cmd, row, option, value, out);
    *out = WAIT_MS_FOREVER;
    return 0;
}

/* The number of `value` among the words of `choices`, or -1. */
static int choice_find(const char *choices, const char *value)
{
    size_t len = strlen(value);
    for (int i = 0; *choices; i++) {
        size_t n = strcspn(choices, "|");
        if (n == len && memcmp(choices, value, len) == 0) return i;
        choices += n + (choices[n] == '|');
    }
    return -1;
}

static int choice_set(const struct command *cmd, const struct option_row *row,
                      const char *option, const char *value, int *out)
{
    char why[80];
    int at = choice_find(row->value, value);
    snprintf(why, sizeof(why), "must be one of %s", row->value);
    if (at < 0) return value_error(cmd, option, value, why);
    *out = row->number + at * (row->min ? (int)row->min : 1);
    return 0;
}

static int number_set(const struct command *cmd, const struct option_row *row,
                      const char *option, const char *value, int64_t *out)
{
    if (number_parse(value, row->min, row->max, out) == 0) return 0;
    char why[80];
    snprintf(why, sizeof(why), "not a number from %" PRId64 " to %" PRId64,
             row->min, row->max);
    return value_error(cmd, option, value, why);
}

static int texts_add(const struct command *cmd, const char *option,
                     const char *value, struct texts *out)
{
    if (out->len == TEXTS_MAX)
        return value_error(cmd, option, value, "given too often");
    out->at[out->len++] = value;
    return 0;
}

/* Carry out one option; `option` is how it was written. */
static int row_set(const struct command *cmd, const struct option_row *row,
                   const char *option, const char *value, struct options *o)
{
    char *field = (char *)o + row->offset;
    if (!value && row->kind != OPTION_FLAG && row->kind != OPTION_JSON)
        return usage_error(cmd, option, "needs a value");
    switch (row->kind) {
    case OPTION_FLAG:
        *(int *)(void *)field = row->number;
        return 0;
    case OPTION_TEXT:
        *(const char **)(void *)field = value;
        return 0;
    case OPTION_TEXTS:
        return texts_add(cmd, option, value, (struct texts *)(void *)field);
    case OPTION_DURATION:
        return duration_set(cmd, row, option, value, (int64_t *)(void *)field);
    case OPTION_WAIT:
        return wait_set(cmd, row, option, value, (int64_t *)(void *)field);
    case OPTION_CHOICE:
        return choice_set(cmd, row, option, value, (int *)(void *)field);
    case OPTION_NUMBER:
        return number_set(cmd, row, option, value, (int64_t *)(void *)field);
    case OPTION_JSON:
        o->json = 1;
        o->json_to = value;
        return 0;
    }
    return -1;
}

/* "--name", "--name=value", "--name" "value".  The next index, or -1. */
static int long_parse(const struct command *cmd, int argc, char **argv, int at,
                      struct options *o)
{
    const char *name = argv[at] + 2;
    size_t len = strcspn(name, "=");
    const char *value = name[len] ? name + len + 1 : NULL;
    const struct option_row *row = option_by_name(cmd, name, len);
    if (!row) return usage_error(cmd, argv[at], "no such option");
    if (!row->value && value)
        return usage_error(cmd, argv[at], "takes no value");
    int next = at + 1;
    if (row->value && !value && row->kind != OPTION_JSON) {
        if (next >= argc) return usage_error(cmd, argv[at], "needs a value");
        value = argv[next++];
    }
    return row_set(cmd, row, argv[at], value, o) == 0 ? next : -1;
}

/* "-nw5": letters until one takes a value.  The next index, or -1. */
static int short_parse(const struct command *cmd, int argc, char **argv, int at,
                       struct options *o)
{
    for (const char *p = argv[at] + 1; *p; p++) {
        char option[3] = {'-', *p, '\0'};
        const struct option_row *row = option_by_letter(cmd, *p);
        if (!row) return usage_error(cmd, option, "no such option");
        if (!row->value) {
            if (row_set(cmd, row, option, NULL, o) != 0) return -1;
            continue;
        }
        const char *value = p[1] ? p + 1 : at + 1 < argc ? argv[at + 1] : NULL;
        if (!value) return usage_error(cmd, option, "needs a value");
        if (row_set(cmd, row, option, value, o) != 0) return -1;
        return p[1] ? at + 1 : at + 2;
    }
    return at + 1;
}

int options_parse(const struct command *cmd, int argc, char **argv, int from,
                  struct options *o)
{
    int at = from;
    while (at >= 0 && at < argc) {
        const char *word = argv[at];
        if (strcmp(word, "--") == 0) return at + 1;
        if (word[0] != '-' || !word[1]) return at;
        at = word[1] == '-' ? long_parse(cmd, argc, argv, at, o)
                            : short_parse(cmd, argc, argv, at, o);
    }
    return at;
}

int options_words(const struct command *cmd, int argc, char **argv,
                  struct options *o, const char **words, int words_max)
{
    int count = 0;
    int only_words = 0; /* behind "--" */
    for (int i = 0; i < words_max; i++) words[i] = NULL;
    for (int at = 1; at < argc;) {
        if (!only_words) {
            int next = options_parse(cmd, argc, argv, at, o);
            if (next < 0) return -1;
            only_words = next > at && strcmp(argv[next - 1], "--") == 0;
            at = next;
            if (at >= argc) break;
        }
        if (count >= words_max)
            return usage_error(cmd, argv[at], "one argument too many");
        words[count++] = argv[at++];
    }
    return count;
}
