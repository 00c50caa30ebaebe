/*
 * url.c: what is PostgreSQL's own in a URL.  One rule: a bad option is refused
 * before anything is connected to.
 */
#include "backend/postgres/postgres.h"
#include "backend/sql/shedlock.h"
#include "base/error.h"

static const struct server_kind kind = {
    .scheme = "postgres",
    .port = POSTGRES_PORT,
    .socket = "/directory",
    .create = "; search_path= names a schema of the database"};

/* From 16 on, libpq can be told to trust the system's authorities. */
static int roots_check(const struct server *p, struct hf_error *err)
{
    if (p->tls != SERVER_TLS_VERIFIED || p->tls_ca || PQlibVersion() >= 160000)
        return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "url: tls_ca: missing: this libpq does not know the "
                         "system's authorities");
}

int hf__postgres_url_read(struct backend_conn *c, const struct url *url,
                          struct hf_error *err)
{
    const char *path = hf__url_option(url, "search_path");
    int status = hf__sql_server_read(&c->server, c->env, url, &kind, err);
    if (status == HF_OK) status = roots_check(&c->server, err);
    if (status == HF_OK)
        status = hf__sql_server_session(url, &c->is_session, err);
    if (status == HF_OK)
        status = hf__sql_shed_option(url, c->is_session, &c->is_shed, err);
    if (status != HF_OK || !path || !path[0]) return status;
    c->search_path = hf__strdup(c->env->alloc, path);
    if (c->search_path) return HF_OK;
    return hf__error_set(err, HF_NOMEM, "postgres: out of memory");
}

void hf__postgres_url_free(struct backend_conn *c)
{
    hf__sql_server_free(&c->server);
    hf__free(c->env->alloc, c->search_path);
}
