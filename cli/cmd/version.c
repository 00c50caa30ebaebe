/*
 * cmd/version.c: which holdfast this is, and which stores it can use.
 *
 * The backends are not listed but tried: one that is not built in or not
 * installed refuses to open.
 */
#include "command.h"
#include "common/json.h"
#include "common/say.h"
#include "option/rows.h"
#include "probes.h"

#include <stdio.h>
#include <string.h>

/* Opening these reaches no server and writes nothing. */
static const struct term_row probes[] = {STORE_PROBES};

static int backend_is_there(const char *url)
{
    hf_client *client;
    struct hf_client_options co = HF_CLIENT_OPTIONS_INIT;
    co.flags = HF_CLIENT_OWN_LOOP;
    if (hf_client_open(url, &co, &client, NULL) != HF_OK) return 0;
    hf_client_close(client);
    return 1;
}

static void backends_text(char *out, size_t size)
{
    size_t len = (size_t)snprintf(out, size, "file");
    for (const struct term_row *p = probes; p->term; p++) {
        if (backend_is_there(p->text))
            len += (size_t)snprintf(out + len, size - len, " %s", p->term);
    }
}

static int version_main(const struct command *self, int argc, char **argv)
{
    struct options o;
    struct json j;
    char backends[256];
    int code = command_begin(self, argc, argv, &o, NULL, 0, 0);
    if (code >= 0) return code;
    backends_text(backends, sizeof(backends));
    if (o.json) {
        json_begin(&j);
        json_text(&j, "version", HF_VERSION);
        json_text(&j, "library", hf_version());
        json_text(&j, "backends", backends);
        json_end(&j);
        fputs(j.buf, stdout);
        return stdout_end();
    }
    printf("holdfast %s\n", HF_VERSION);
    if (strcmp(HF_VERSION, hf_version()) != 0)
        printf("library: %s\n", hf_version());
    printf("backends: %s\n", backends);
    return stdout_end();
}

static const struct option_row version_options[] = {
    OPTION_ROW_JSON("print one JSON object"), OPTION_ROW_TALK};

static const char *const version_about[] = {
    "Print the version and the backends that can be used here.", NULL};

static const struct term_row version_exits[] = {
    {"0", "printed"}, {"64", "wrong use of the command"}, {NULL, NULL}};

const struct command cmd_version = {
    .name = "version",
    .summary = "print the version and the backends",
    .usage = "[--json]",
    .about = version_about,
    OPTIONS(version_options),
    .exits = version_exits,
    .run = version_main,
};
