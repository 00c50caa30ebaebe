/*
 * script.c: requests about the tables of sales, as scripts and their answers.
 *
 * One rule: a script that was refused has changed nothing.
 */
#include "backend/sql/script.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "backend/sql/core.h"

#define ROOM_FIRST 4096

/* ---- the text ----------------------------------------------------------- */

static int room_make(struct sql_script *s, size_t need)
{
    size_t size = s->room ? s->room : ROOM_FIRST;
    while (size < s->len + need) size *= 2;
    if (s->is_short || size == s->room) return s->is_short ? -1 : 0;
    char *text = hf__realloc(s->alloc, s->text, size);
    s->is_short = text == NULL;
    if (!text) return -1;
    s->text = text;
    s->room = size;
    return 0;
}

void hf__sql_put(struct sql_script *s, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    int len = vsnprintf(NULL, 0, format, ap);
    va_end(ap);
    if (len < 0 || room_make(s, (size_t)len + 1) != 0) return;
    va_start(ap, format);
    vsnprintf(s->text + s->len, (size_t)len + 1, format, ap);
    va_end(ap);
    s->len += (size_t)len;
}

void hf__sql_put_end(struct sql_script *s)
{
    if (room_make(s, 1) != 0) return;
    s->text[s->len++] = '\0';
    s->statements++;
}

const char *hf__sql_script_next(const char *statement)
{
    return statement + strlen(statement) + 1;
}

void hf__sql_script_free(struct sql_script *s)
{
    if (!s) return;
    hf__free(s->alloc, s->text);
    hf__free(s->alloc, s);
}

/* ---- the job ------------------------------------------------------------ */

void hf__sql_ledger_begin(struct sql_job *job)
{
    struct sql_core *core = job->core;
    struct ledger_job *ledger = job->req->ledger;
    ledger->is_refused = ledger->is_missing = 0;
    if (core->driver->dialect == SQL_DIALECT_NONE) {
        hf__sql_refuse(job, HF_UNSUPPORTED, "it keeps no orders of sales");
        return;
    }
    struct sql_script *s = hf__alloc_zero(core->env->alloc, sizeof *s);
    job->script = s;
    if (s) {
        s->alloc = core->env->alloc;
        hf__sql_ledger_write(s, core->driver->dialect, ledger);
    }
    if (!s || s->is_short)
        hf__sql_refuse(job, HF_NOMEM, "out of memory");
    else
        hf__sql_job_step(job, SQL_SCRIPT);
}

void hf__sql_script_row(struct sql_job *job, int len, const char *const *values)
{
    const struct ledger_job *ledger = job->req->ledger;
    if (ledger->row) ledger->row(ledger->row_user, len, values);
}

void hf__sql_script_done(struct sql_job *job)
{
    hf__sql_job_tell(job, V_GRANTED, 0);
}

void hf__sql_script_refused(struct sql_job *job, enum sql_refusal why)
{
    struct ledger_job *ledger = job->req->ledger;
    ledger->is_refused = why == SQL_REFUSED_CHECK;
    ledger->is_missing = why == SQL_REFUSED_TABLE;
    hf__sql_job_tell(job, V_GRANTED, 0);
}
