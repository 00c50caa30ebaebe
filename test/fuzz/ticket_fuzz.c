/*
 * ticket_fuzz.c: any text as a ticket.  One rule: what is no ticket is refused
 * with an error text, and no ticket is good for a lock that is free.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/holdfast.h"

#define TEXT_MAX 512

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static hf_lock *held, *other;

static void check(int ok)
{
    if (!ok) abort();
}

/* A lock with a holder, and one that is free. */
static void begin(void)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_acquire_options how = HF_ACQUIRE_OPTIONS_INIT;
    hf_client *client = NULL;
    o.flags = HF_CLIENT_OWN_LOOP;
    how.lease_ms = 24 * 3600 * 1000;
    check(hf_client_open("memory:fuzz", &o, &client, NULL) == HF_OK);
    check(hf_lock_open(client, "held", &held, NULL) == HF_OK);
    check(hf_lock_open(client, "other", &other, NULL) == HF_OK);
    check(hf_lock_acquire(held, &how, NULL, NULL) == HF_OK);
}

/* An error text that ends, or no error. */
static void said(int status, const struct hf_error *err)
{
    if (status == HF_OK) return;
    const char *end = memchr(err->text, '\0', sizeof err->text);
    check(end != NULL && end > err->text && err->status == status);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hf_hold *hold = NULL;
    struct hf_error err;
    char text[TEXT_MAX];
    if (!held) begin();
    if (size >= sizeof text) return 0;
    if (size > 0) memcpy(text, data, size);
    text[size] = '\0';
    said(hf_lock_attach(held, text, 1000, &hold, &err), &err);
    said(hf_ticket_release(held, text, &err), &err);
    int status = hf_lock_attach(other, text, 1000, &hold, &err);
    check(status != HF_OK);
    said(status, &err);
    return 0;
}
