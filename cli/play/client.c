/*
 * play/client.c: the lines that a client writes to the stage, in both ways.
 */
#include "play/client.h"

void client_event(struct lab_proc *self, enum event_kind kind, int64_t at_us,
                  int64_t until_us, uint64_t fence, const char *text)
{
    lab_proc_say(self, "E %d %lld %lld %llu %.*s", (int)kind, (long long)at_us,
                 (long long)until_us, (unsigned long long)fence,
                 EVENT_TEXT_MAX - 1, text);
}

void client_done(struct lab_proc *self, int result)
{
    lab_proc_say(self, "D %d", result);
}
