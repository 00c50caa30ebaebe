/*
 * rig_postgres.c: see rig_postgres.h.  One rule: the tables are made as users
 * make them.
 */
#include "lib/rig_postgres.h"

#include <stdio.h>
#include <string.h>

#include "backend/registry.h"
#include "holdfast/holdfast.h"
#include "lib/lab_check.h"
#include "lib/rig.h"
#include "lib/server.h"

static struct lab_postgres shared;

void postgres_install(const char *url)
{
    struct hf_error err = {0};
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.timeout_ms = o.patience_ms = RIG_PATIENCE_MS;
    int status = hf_schema_install(url, &o, &err);
    if (status == HF_UNSUPPORTED && strstr(err.text, ": not built in: "))
        test_skip("%s", err.text);
    if (status != HF_OK) TEST_FAIL("install %s: %s", url, err.text);
}

void rig_postgres_fresh(char *url, size_t size)
{
    if (shared.pid == 0) {
        LAB_CHECK(lab_postgres_start(&shared, NULL));
        postgres_install(shared.url);
    }
    LAB_CHECK(lab_postgres_do(&shared,
                              "DELETE FROM holdfast_lock;"
                              "DELETE FROM holdfast_meta WHERE key = 'boot'"));
    snprintf(url, size, "%s", shared.url);
}

struct lab_postgres *rig_postgres_shared(void)
{
    return &shared;
}

static void postgres_end(void *arg)
{
    lab_postgres_stop(arg);
}

void postgres_begin(struct lab_postgres *p, const char *const *args,
                    const char *path)
{
    char url[160];
    LAB_CHECK(lab_postgres_start(p, args));
    test_cleanup(postgres_end, p);
    snprintf(url, sizeof url, "%s%s%s", p->url, path ? "?search_path=" : "",
             path ? path : "");
    postgres_install(url);
}

static void connection_end(void *arg)
{
    fake_close(arg);
}

void postgres_connect(struct fake_env *f, const char *url)
{
    struct hf_error err;
    const struct backend *b = hf__backend_find("postgres", &err);
    if (!b) test_skip("%s", err.text);
    fake_init(f, b);
    test_cleanup(connection_end, f);
    if (fake_open(f, url, &err) != HF_OK) TEST_FAIL("%s", err.text);
    server_wait_link(f, 1);
}
