/*
 * member.c: a database that is a member of a quorum refuses a client whose URL
 * names that database alone.  One rule: nothing that a quorum decides is
 * granted past it; the marker is read once, with the greeting, so that no lock
 * pays for it.
 */
#include <stdio.h>
#include <string.h>

#include "backend/sql/core.h"
#include "base/error.h"

int hf__sql_member_read(struct sql_core *core, const struct url *url,
                        struct hf_error *err)
{
    const char *text = hf__url_option(url, "member");
    core->member_is_meant = text && !strcmp(text, "ok");
    if (!text || core->member_is_meant || !strcmp(text, "no")) return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "url: member: \"%.40s\" is neither no nor ok", text);
}

void hf__sql_member_met(struct sql_core *core, const char *marker)
{
    core->quorum_of = hf__marker_members(marker);
}

/* Does the client use a member of a quorum by itself?  Clients of the quorum
 * and probes ask by VERB_BOOT. */
static int is_refusing(const struct sql_core *core)
{
    return core->quorum_of > 1 && !core->member_is_meant
           && !core->env->conf->takes_replica;
}

int hf__sql_member_refuses(struct sql_job *job)
{
    char text[HF_ERROR_TEXT_MAX];
    const struct sql_core *core = job->core;
    if (!is_refusing(core) || !hf__boot_is_bypass(job->req)) return 0;
    snprintf(text, sizeof text,
             "it is one of %d members of a quorum: name all of them, or add "
             "member=ok to the URL; if it is none, delete 'boot' from "
             "holdfast_meta",
             core->quorum_of);
    hf__sql_refuse(job, HF_CONFLICT, text);
    return 1;
}

const char *hf__sql_member_fact(struct sql_core *core)
{
    core->member_fact[0] = '\0';
    if (core->quorum_of > 0 && !core->member_is_meant)
        snprintf(core->member_fact, sizeof core->member_fact, "quorum_of:%d\n",
                 core->quorum_of);
    return core->member_fact;
}
