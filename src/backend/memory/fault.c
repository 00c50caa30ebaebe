/*
 * fault.c: reading the fault options and throwing the dice.  One rule:
 * the same seed and the same requests give the same faults.
 */
#include <string.h>

#include "backend/memory/fault.h"
#include "base/error.h"
#include "sys/random.h"

#define DELAY_MS_MAX 60000
#define CLOCK_MS_MAX 86400000

static int option_number(const struct url *url, const char *key, int64_t min,
                         int64_t max, int64_t *out, struct hf_error *err)
{
    const char *value = hf__url_option(url, key);
    if (!value || hf__number_parse(value, min, max, out) == 0) return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "memory: %s=%.40s: not a number from %lld to %lld",
                         key, value, (long long)min, (long long)max);
}

static int option_percent(const struct url *url, const char *key, int *out,
                          struct hf_error *err)
{
    int64_t percent = 0;
    int status = option_number(url, key, 0, 100, &percent, err);
    *out = (int)percent;
    return status;
}

/* "20" or "5-50". */
static int delay_parse(const char *text, int64_t *min_ms, int64_t *max_ms)
{
    char low[16];
    size_t len = strcspn(text, "-");
    if (len >= sizeof low) return -1;
    memcpy(low, text, len);
    low[len] = '\0';
    const char *high = text[len] ? text + len + 1 : low;
    if (hf__number_parse(low, 0, DELAY_MS_MAX, min_ms)) return -1;
    return hf__number_parse(high, *min_ms, DELAY_MS_MAX, max_ms);
}

static int option_delay(const struct url *url, struct fault_plan *plan,
                        struct hf_error *err)
{
    int64_t min_ms = 0, max_ms = 0;
    const char *value = hf__url_option(url, "delay_ms");
    if (value && delay_parse(value, &min_ms, &max_ms))
        return hf__error_set(err, HF_INVALID,
                             "memory: delay_ms=%.40s: not a number or a range "
                             "a-b of milliseconds up to %d",
                             value, DELAY_MS_MAX);
    plan->delay_min_us = min_ms * US_PER_MS;
    plan->delay_max_us = max_ms * US_PER_MS;
    return HF_OK;
}

int hf__memory_fault_parse(struct fault_plan *plan, const struct url *url,
                           struct hf_error *err)
{
    int64_t seed = 1, down = 0, clock_ms = 0;
    int status;
    *plan = (struct fault_plan){0};
    if ((status = option_number(url, "seed", 0, INT64_MAX, &seed, err))
        || (status = option_number(url, "down", 0, 1, &down, err))
        || (status = option_number(url, "clock_ms", -CLOCK_MS_MAX, CLOCK_MS_MAX,
                                   &clock_ms, err))
        || (status = option_percent(url, "loss", &plan->loss, err))
        || (status = option_percent(url, "error", &plan->error, err))
        || (status = option_percent(url, "expire", &plan->expire, err))
        || (status = option_delay(url, plan, err)))
        return status;
    plan->state = (uint64_t)seed;
    plan->is_down = (int)down;
    plan->clock_us = clock_ms * US_PER_MS;
    plan->has_clock = hf__url_option(url, "clock_ms") != NULL;
    return HF_OK;
}

static int dice_hit(struct fault_plan *plan, int percent)
{
    if (percent <= 0) return 0;
    return (int)(hf__random_next(&plan->state) % 100) < percent;
}

static int64_t delay_draw(struct fault_plan *plan)
{
    uint64_t span = (uint64_t)(plan->delay_max_us - plan->delay_min_us);
    if (span == 0) return plan->delay_min_us;
    uint64_t extra = hf__random_next(&plan->state) % (span + 1);
    return plan->delay_min_us + (int64_t)extra;
}

struct fault_fate hf__memory_fault_draw(struct fault_plan *plan, enum verb op)
{
    struct fault_fate fate = {.delay_us = delay_draw(plan)};
    /* Wake-ups are a courtesy, not an answer of the store. */
    if (op == VERB_WATCH || op == VERB_UNWATCH) return fate;
    fate.lost = dice_hit(plan, plan->loss);
    if (fate.lost) fate.carried_out = dice_hit(plan, 50);
    if (!fate.lost) fate.refused = dice_hit(plan, plan->error);
    if (op == VERB_RENEW) fate.expired = dice_hit(plan, plan->expire);
    return fate;
}
