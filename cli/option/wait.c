/*
 * option/wait.c: how long to wait, as -n and -w say.
 */
#include "common/exit.h"
#include "common/say.h"
#include "common/text.h"
#include "option/wait.h"

#include <stdio.h>
#include <unistd.h>

int wait_check(const struct command *cmd, const struct options *o)
{
    struct hf_acquire_options ao = HF_ACQUIRE_OPTIONS_INIT;
    char what[256], shown[96];
    if (o->nonblock && o->wait_ms != 0 && o->wait_ms != -1)
        return command_usage(cmd, "-n and -w exclude each other");
    if (o->renew_ms && o->lease_ms && o->renew_ms > o->lease_ms / 2)
        return command_usage(cmd, "--renew must be at most half of --lease");
    const char *why = o->backoff ? backoff_parse(o->backoff, &ao) : NULL;
    if (!why) return EXIT_OK;
    snprintf(what, sizeof(what), "--backoff %s: %s",
             text_escape(o->backoff, shown, sizeof(shown)), why);
    return command_usage(cmd, what);
}

int wait_is_watched(const struct options *o)
{
    return !o->quiet && say_json_fd() != STDERR_FILENO && isatty(STDERR_FILENO);
}

int64_t wait_choose(const struct options *o)
{
    if (o->nonblock || o->wait_ms == 0) return WAIT_TRY;
    return o->wait_ms > 0 ? o->wait_ms : 0;
}

void acquire_wait(struct hf_acquire_options *ao, int64_t wait_ms)
{
    ao->flags &= ~HF_ACQUIRE_TRY;
    if (wait_ms == WAIT_TRY) ao->flags |= HF_ACQUIRE_TRY;
    ao->wait_ms = wait_ms == WAIT_TRY ? 0 : wait_ms;
}
