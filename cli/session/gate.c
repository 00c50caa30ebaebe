/*
 * session/gate.c: see session/gate.h.  One rule: a wait that a
 * signal ends has been taken back from the store before holdfast ends.
 */
#include "common/exit.h"
#include "common/say.h"
#include "option/wait.h"
#include "session/gate.h"
#include "session/interrupt.h"

int gate_open(struct session *s, const struct options *o, const char *name)
{
    int code = session_open(s, o, NULL, HF_CLIENT_OWN_LOOP, NULL, NULL);
    if (code == EXIT_OK) text_escape(name, s->shown, sizeof(s->shown));
    return code;
}

static int refused(struct session *s, int status, const struct hf_error *err,
                   const char *what)
{
    if (status == HF_CANCELLED) {
        say_note("%s: %s: interrupted", s->shown, what);
        return EXIT_SIGNAL + interrupt_signal();
    }
    if (status != HF_TAKEN && status != HF_TIMEOUT)
        return session_fail(s, status, err);
    session_warn(s, what, err->text);
    return EXIT_NOT_ACQUIRED;
}

int gate_wait(struct session *s, const struct options *o, struct gate *g,
              const char *what)
{
    struct hf_wait_options wo = HF_WAIT_OPTIONS_INIT;
    struct hf_error err = {0};
    hf_cancel *cancel;
    int status = hf_cancel_open(s->client, &cancel);
    if (status != HF_OK) return session_fail(s, status, &err);
    interrupt_setup(cancel);
    wo.cancel = cancel;
    int64_t wait_ms = wait_choose(o);
    if (wait_ms == WAIT_TRY)
        wo.flags = HF_WAIT_TRY;
    else
        wo.wait_ms = wait_ms;
    status = g->latch ? hf_latch_wait(g->latch, &wo, &err)
                      : hf_barrier_wait(g->barrier, &wo, &g->passed, &err);
    interrupt_setup(NULL);
    hf_cancel_close(cancel);
    return status == HF_OK ? EXIT_OK : refused(s, status, &err, what);
}
