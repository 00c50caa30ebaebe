/*
 * schema.c: the tables of a store in a database.  One rule: the store makes
 * them itself, when a URL with schema=create is opened.
 */
#include <stdio.h>
#include <string.h>

#include "backend/registry.h"
#include "base/error.h"
#include "base/url.h"
#include "holdfast/schema.h"
#include "holdfast/lock.h"
#include "sys/alloc.h"

/* The statements of the store that `url` names; NULL with err filled. */
static const char *const *schema_of(const char *url, struct hf_error *err)
{
    struct url parsed;
    const char *const *schema = NULL;
    if (!url) {
        hf__error_set(err, HF_INVALID, "schema: no URL");
        return NULL;
    }
    if (hf__url_parse(&parsed, url, err) == HF_OK)
        schema = hf__backend_schema(parsed.scheme,
                                    hf__url_option(&parsed, "layout"), err);
    hf__wipe(parsed.text, sizeof parsed.text); /* it may hold a password */
    return schema;
}

int hf_schema_text(const char *url,
                   void (*each)(const char *statement, void *user), void *user,
                   struct hf_error *err)
{
    struct hf_error own;
    if (!err) err = &own; /* its status is what we return */
    if (!each) return hf__error_set(err, HF_INVALID, "schema: no function");
    const char *const *schema = schema_of(url, err);
    if (!schema) return err->status;
    for (; *schema; schema++) each(*schema, user);
    return HF_OK;
}

/* The server has answered: the tables are there, or it said why not. */
static int client_ask(hf_client *client, struct hf_error *err)
{
    hf_lock *lock = NULL;
    int is_locked;
    int status = hf_lock_open(client, "schema", &lock, err);
    if (status == HF_OK) status = hf_lock_is_locked(lock, &is_locked, err);
    hf_lock_close(lock);
    return status;
}

int hf_schema_install(const char *url, const struct hf_client_options *options,
                      struct hf_error *err)
{
    char text[URL_LEN_MAX + 32];
    struct hf_error own;
    hf_client *client = NULL;
    if (!err) err = &own;
    if (!url || strlen(url) > URL_LEN_MAX)
        return hf__error_set(err, HF_INVALID, "schema: no URL, or too long");
    snprintf(text, sizeof text, "%s%sschema=create", url,
             hf_url_traits(url) & HF_URL_OPTIONS ? "&" : "?");
    int status = hf_client_open(text, options, &client, err);
    hf__wipe(text, sizeof text);
    if (status == HF_OK) status = client_ask(client, err);
    hf_client_close(client);
    return status;
}
