/*
 * cmd/doctor.c: what a deployment can promise, in plain words.
 *
 * Facts are asked for first (hf_probe_open()), then judged, then told.  It
 * changes nothing anywhere.
 */
#include "command.h"
#include "common/exit.h"
#include "common/say.h"
#include "doctor/doctor.h"
#include "option/rows.h"
#include "session/session.h"

#define SAMPLE_MS_DEFAULT 3000

static int doctor_exit(const struct doctor *d)
{
    int needed = hf_probe_quorum(d->probe) ? hf_probe_quorum(d->probe) : 1;
    if (d->is_wrong) return EXIT_CONFIG;
    if (d->answering < needed) {
        for (int i = 0; i < hf_probe_len(d->probe) && needed == 1; i++)
            if (hf_probe_node(d->probe, i)->status == HF_DENIED)
                return EXIT_DENIED;
        return EXIT_UNREACHABLE;
    }
    return d->warnings ? EXIT_WARNED : EXIT_OK;
}

/* `url` is NULL for the default, a directory of this host. */
static void doctor_judge(struct doctor *d, const char *url)
{
    unsigned traits = hf_url_traits(url);
    d->is_of_sentinel = (traits & HF_URL_SENTINEL) != 0;
    d->is_of_cluster = (traits & HF_URL_CLUSTER) != 0;
    for (int i = 0; i < hf_probe_len(d->probe); i++) node_check(d, i);
    if (hf_probe_left_out(d->probe))
        finding_add(d, LEVEL_WARN, -1, "nodes",
                    "the cluster has more masters: only these were asked");
    clocks_check(d);
    quorum_check(d);
}

static int doctor_do(const struct options *o, const char *word)
{
    static struct doctor d;
    struct hf_probe_options po = HF_PROBE_OPTIONS_INIT;
    struct session s = {0};
    struct hf_error err = {0};
    struct options with = *o;
    const char *url;
    char shown[2 * HF_ERROR_TEXT_MAX];
    if (word) with.url = word;
    int code = session_url(&s, &with, &url);
    if (code) return code;
    po.sample_ms = o->look_ms ? o->look_ms : SAMPLE_MS_DEFAULT;
    po.user = session_user(&s);
    po.password = session_password(&s);
    po.password_file = session_password_file(&s);
    int status = hf_probe_open(url, &po, &d.probe, &err);
    if (status != HF_OK) {
        say_error("doctor: %s", text_escape(err.text, shown, sizeof(shown)));
        return status_exit(status);
    }
    doctor_judge(&d, url);
    if (o->json)
        doctor_json(&d);
    else if (!o->quiet)
        doctor_print(&d);
    code = stdout_end();
    if (!code) code = doctor_exit(&d);
    hf_probe_close(d.probe);
    return code;
}

static int doctor_main(const struct command *self, int argc, char **argv)
{
    struct options o;
    const char *words[1];
    int code = command_begin(self, argc, argv, &o, words, 0, 1);
    if (code >= 0) return code;
    if (words[0] && o.url) return command_usage(self, "the URL is given twice");
    return doctor_do(&o, words[0]);
}

static const struct option_row doctor_options[] = {
    {"", "for", "TIME", OPTION_DURATION, FIELD(look_ms), 0, 1,
     HF_PROBE_SAMPLE_MS_MAX,
     "observe the clocks for TIME; default: 3s; the longer, the more exact "
     "are their rates"},
    OPTION_ROW_URL,
    OPTION_ROW_JSON("print lines of JSON: nodes, findings, promises, a "
                    "summary"),
    OPTION_ROW_TALK,
};

static const char *const doctor_about[] = {
    "Say what the deployment behind URL can promise. Each server (behind "
    "Sentinels the primary, of a cluster each master) is asked for its "
    "version, its role, its replicas, what it keeps on disk and what it "
    "throws away when its memory is full; its clock is compared with ours "
    "and with the others', and watched for a while. The members of a quorum "
    "also say whether they may vote. Nothing is changed anywhere.",
    "A problem is marked with !, with what to do about it. Then follows "
    "what holds when something fails: whether two clients could hold a lock "
    "at once, whether its fence still rises, and when it can be had again.",
    "A clock that runs faster than the drift budget lets leases end before "
    "their holders know. The usual cause is chrony, which corrects a clock by "
    "up to 8.3 % unless maxslewrate says otherwise.",
    "What each deployment promises, and which test shows it, is on the page "
    "docs/guarantees.md.",
    NULL};

static const struct term_row doctor_exits[] = {{"0", "nothing to warn of"},
                                               {"1", "there are warnings"},
                                               EXIT_ROWS_STORE,
                                               {NULL, NULL}};

static const char *const doctor_examples[] = {
    "holdfast doctor redis://10.0.0.5",
    "holdfast doctor 'redis-sentinel://10.0.0.1,10.0.0.2/main?wait=all'",
    "holdfast doctor --for 30s redlock://10.0.0.1,10.0.0.2,10.0.0.3",
    "holdfast doctor --json | jq -r 'select(.level == \"warning\").text'",
    NULL};

const struct command cmd_doctor = {
    .name = "doctor",
    .summary = "say what a deployment can promise",
    .usage = "[options] [URL]",
    .about = doctor_about,
    OPTIONS(doctor_options),
    .exits = doctor_exits,
    .examples = doctor_examples,
    .run = doctor_main,
};
