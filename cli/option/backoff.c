/*
 * option/backoff.c: --backoff KIND[:FIRST[:MAX[:FACTOR]]].
 *
 * What is left out, or empty, is the library's default for that kind.
 */
#include "common/duration.h"
#include "option/wait.h"

#include <string.h>

#define BACKOFF_PART_MAX 32
#define BACKOFF_FACTOR_MAX 1000

static const char *const kinds[] = {
    [HF_BACKOFF_NONE] = "none",
    [HF_BACKOFF_EXPONENTIAL] = "exponential",
    [HF_BACKOFF_CONSTANT] = "constant",
    [HF_BACKOFF_JITTER] = "jitter",
};
#define KINDS_LEN (sizeof(kinds) / sizeof(kinds[0]))

/* Copy the text up to the next colon into `part`.  Returns what follows it, or
 * NULL if the part is too long. */
static const char *part_next(const char *text, char *part)
{
    size_t len = strcspn(text, ":");
    if (len >= BACKOFF_PART_MAX) return NULL;
    memcpy(part, text, len);
    part[len] = '\0';
    return text + len + (text[len] == ':');
}

static int kind_parse(const char *part, struct hf_acquire_options *out)
{
    for (size_t i = 0; i < KINDS_LEN; i++) {
        if (strcmp(kinds[i], part) != 0) continue;
        out->backoff = (int32_t)i;
        return 0;
    }
    return -1;
}

static int pause_parse(const char *part, int64_t *out_ms)
{
    int64_t ms;
    if (!part[0]) return 0;
    if (duration_parse(part, &ms) != 0 || ms < 1 || ms > HF_LEASE_MS_MAX)
        return -1;
    *out_ms = ms;
    return 0;
}

static int factor_parse(const char *part, int32_t *out)
{
    int64_t n;
    if (!part[0]) return 0;
    if (number_parse(part, 1, BACKOFF_FACTOR_MAX, &n) != 0) return -1;
    *out = (int32_t)n;
    return 0;
}

const char *backoff_parse(const char *text, struct hf_acquire_options *out)
{
    char part[BACKOFF_PART_MAX];
    const char *rest = part_next(text, part);
    if (!rest || kind_parse(part, out) != 0)
        return "the kind must be none, exponential, constant or jitter";
    rest = part_next(rest, part);
    if (!rest || pause_parse(part, &out->backoff_ms) != 0)
        return "the first pause must be a time from 1ms to 24h";
    rest = part_next(rest, part);
    if (!rest || pause_parse(part, &out->backoff_max_ms) != 0)
        return "the longest pause must be a time from 1ms to 24h";
    rest = part_next(rest, part);
    if (!rest || factor_parse(part, &out->backoff_factor) != 0)
        return "the factor must be a number from 1 to 1000";
    if (*rest) return "too many colons: KIND[:FIRST[:MAX[:FACTOR]]]";
    if (out->backoff == HF_BACKOFF_NONE && strchr(text, ':'))
        return "none has no pauses";
    if (out->backoff_max_ms && out->backoff_max_ms < out->backoff_ms)
        return "the longest pause is shorter than the first";
    return NULL;
}
