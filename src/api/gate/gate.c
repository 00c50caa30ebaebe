/* gate.c: see gate.h. */
#include "api/gate/gate.h"

#include <string.h>

#include "base/error.h"
#include "kind/kind.h"

int hf__gate_open(hf_client *client, enum lock_kind kind, const char *name,
                  hf_lock **out, struct hf_error *err)
{
    const struct kind *k = hf__kind(kind);
    int status = hf__client_check(client, err);
    if (status != HF_OK) return status;
    if (!name)
        return hf__error_set(err, HF_INVALID,
                             "name: NULL: give it 1 to 512 bytes");
    if ((client->pump.engine.caps & k->cap) != k->cap)
        return hf__error_set(err, HF_UNSUPPORTED,
                             "%s: %.80s has none: use memory:, redis:// or "
                             "redis-cluster://",
                             k->word, client->url);
    return hf__lock_open(client, kind, HF_ORDER_ANY, name, strlen(name), out,
                         err);
}

int hf__gate_prepare(struct op *op, const hf_lock *lock,
                     const struct hf_wait_options *given, struct hf_error *err)
{
    struct hf_wait_options o = HF_WAIT_OPTIONS_INIT;
    struct hf_acquire_options as = HF_ACQUIRE_OPTIONS_INIT;
    int status = hf__client_check(lock->client, err);
    if (status == HF_OK && given)
        status = hf__options_copy(&o, sizeof o, given, given->struct_size, err);
    if (status != HF_OK) return status;
    if (o.flags & ~HF_WAIT_TRY)
        return hf__error_set(err, HF_INVALID, "flags 0x%x: unknown",
                             o.flags & ~HF_WAIT_TRY);
    if (o.flags & HF_WAIT_TRY) as.flags = HF_ACQUIRE_TRY;
    as.wait_ms = o.wait_ms;
    as.cancel = o.cancel;
    return hf__acquire_prepare(op, lock, &as, hf_holder_new(), err);
}
