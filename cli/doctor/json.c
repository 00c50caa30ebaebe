/*
 * doctor/json.c: what the doctor found, for programs: one object per line, of a
 * node, a finding, a promise, and the sum at the end.
 */
#include "common/json.h"
#include "doctor/doctor.h"

#include <stdio.h>
#include <string.h>

static void facts_json(struct json *j, const struct hf_probe_node *n)
{
    char name[64], value[128];
    for (const char *line = n->facts; *line;) {
        size_t len = strcspn(line, "\n"), name_len = strcspn(line, ":");
        if (name_len < len && name_len < sizeof(name)) {
            snprintf(name, sizeof(name), "%.*s", (int)name_len, line);
            hf_probe_fact(n, name, value, sizeof(value));
            json_text(j, name, value);
        }
        line += len + (line[len] == '\n');
    }
}

static void node_json(const struct hf_probe_node *n)
{
    static const char *const members[] = {"alone", "unknown", "unmarked",
                                          "ours", "others"};
    struct json j;
    json_begin(&j);
    json_text(&j, "node", n->url);
    json_text(&j, "status", hf_status_name(n->status));
    json_bool(&j, "answers", n->answers);
    if (n->text[0]) json_text(&j, "why", n->text);
    if (n->answers) json_int(&j, "rtt_us", n->rtt_us);
    if (n->samples > 0) {
        json_int(&j, "offset_us", n->offset_us);
        json_int(&j, "skew_us", n->skew_us);
        json_int(&j, "step_us", n->step_us);
    }
    if (n->rate_error_ppm) {
        json_int(&j, "rate_ppm", n->rate_ppm);
        json_int(&j, "rate_error_ppm", n->rate_error_ppm);
    }
    json_text(&j, "member", members[n->member]);
    if (n->member >= HF_PROBE_UNMARKED) {
        json_int(&j, "votes_in_ms", n->votes_in_ms);
        json_int(&j, "max_lease_ms", n->max_lease_ms);
        json_bool(&j, "durable", n->durable);
    }
    facts_json(&j, n);
    json_end(&j);
    fputs(j.buf, stdout);
}

static void finding_json(const struct doctor *d, const struct finding *f)
{
    struct json j;
    json_begin(&j);
    json_text(&j, "finding", f->about);
    json_text(&j, "level", f->level == LEVEL_WARN ? "warning" : "note");
    if (f->node >= 0)
        json_text(&j, "node", hf_probe_node(d->probe, f->node)->url);
    json_text(&j, "text", f->text);
    json_end(&j);
    fputs(j.buf, stdout);
}

static void promise_json(const struct promise *p)
{
    struct json j;
    json_begin(&j);
    json_text(&j, "when", p->event);
    json_text(&j, "exclusion", p->exclusion);
    json_text(&j, "fence_rises", p->fencing);
    json_text(&j, "again", p->again);
    json_end(&j);
    fputs(j.buf, stdout);
}

void doctor_json(const struct doctor *d)
{
    struct promise rows[PROMISES_MAX];
    struct json j;
    int len = d->answering > 0 ? promises_make(d, rows) : 0;
    for (int i = 0; i < hf_probe_len(d->probe); i++)
        node_json(hf_probe_node(d->probe, i));
    for (int i = 0; i < d->findings_len; i++) finding_json(d, &d->findings[i]);
    for (int i = 0; i < len; i++) promise_json(&rows[i]);
    json_begin(&j);
    json_int(&j, "nodes", hf_probe_len(d->probe));
    json_int(&j, "answering", d->answering);
    if (hf_probe_quorum(d->probe)) {
        json_int(&j, "voting", d->voting);
        json_int(&j, "needed", hf_probe_quorum(d->probe));
    }
    json_int(&j, "drift_ppm", hf_probe_drift_ppm(d->probe));
    json_int(&j, "warnings", d->warnings);
    json_end(&j);
    fputs(j.buf, stdout);
}
