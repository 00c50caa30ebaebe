/*
 * holder.c: holder ids.
 *
 * The rule: ids come from one counter of the process and are never used twice;
 * the kernel's thread ids would be.
 */
#include <stdatomic.h>

#include "holdfast/client.h"

static atomic_uint_fast64_t last_holder;
static _Thread_local uint64_t own_holder;

uint64_t hf_holder_new(void)
{
    return (uint64_t)atomic_fetch_add(&last_holder, 1) + 1;
}

uint64_t hf_holder_self(void)
{
    if (own_holder == 0) own_holder = hf_holder_new();
    return own_holder;
}
