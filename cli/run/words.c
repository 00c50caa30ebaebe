/*
 * run/words.c: the command line that run, once and elect share.
 *
 * Whatever happens, exactly one event "end" tells how it went.
 */
#include "common/duration.h"
#include "common/exit.h"
#include "common/say.h"
#include "manual/help.h"
#include "option/wait.h"
#include "run/event.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int run_usage(const struct run *r, const char *what)
{
    return command_usage(r->self, what);
}

/* Options may stand before and behind NAME; the command comes last. */
static int words_parse(struct run *r, int argc, char **argv)
{
    int at = options_parse(r->self, argc, argv, 1, r->o);
    if (at < 0) return EXIT_USAGE;
    if (r->o->help || at >= argc) return EXIT_OK;
    r->name = argv[at];
    at = options_parse(r->self, argc, argv, at + 1, r->o);
    if (at < 0) return EXIT_USAGE;
    r->argv = argv + at;
    return EXIT_OK;
}

static int words_check(const struct run *r)
{
    if (!r->name) return run_usage(r, "NAME and COMMAND are missing");
    if (!r->o->shell && !r->argv[0]) return run_usage(r, "COMMAND is missing");
    if (r->o->shell && r->argv[0])
        return run_usage(r, "-c and COMMAND exclude each other");
    if (r->o->skip_ok && r->o->conflict_code >= 0)
        return run_usage(r, "--skip-ok and -E exclude each other");
    return wait_check(r->self, r->o);
}

static int json_refuse(const struct run *r, const char *why)
{
    char shown[64], what[160];
    text_escape(r->o->json_to, shown, sizeof(shown));
    snprintf(what, sizeof(what), "--json=%s: %s", shown, why);
    return run_usage(r, what);
}

static int json_setup(const struct run *r)
{
    const struct options *o = r->o;
    int64_t fd = STDERR_FILENO;
    if (!o->json) {
        say_setup(o->quiet, o->verbose, -1);
        return EXIT_OK;
    }
    if (o->json_to && number_parse(o->json_to, 0, 65535, &fd) != 0)
        return json_refuse(r, "not the number of a file descriptor");
    if (fcntl((int)fd, F_GETFD) < 0 && o->json_to)
        return json_refuse(r, "this file descriptor is not open");
    if (fd > STDERR_FILENO) (void)fcntl((int)fd, F_SETFD, FD_CLOEXEC);
    say_setup(o->quiet, o->verbose, (int)fd);
    return EXIT_OK;
}

int run_words(const struct command *self, const struct way *way,
              int (*check)(const struct run *r), int argc, char **argv)
{
    struct options o;
    struct run r;
    memset(&r, 0, sizeof(r));
    options_init(&o);
    r.o = &o;
    r.self = self;
    r.way = way;
    r.supervisor = getpid();
    r.status_fd = r.child_status_fd = -1;
    r.out.fd = r.out.child_fd = -1;
    int code = words_parse(&r, argc, argv);
    if (!code && o.help) {
        help_command(self, stdout);
        return stdout_end();
    }
    int json_code = json_setup(&r);
    struct outcome end = {code ? code : json_code, "usage"};
    if (!end.code) end.code = words_check(&r);
    if (!end.code) end.code = check(&r);
    if (!end.code) end.code = on_lost_set(&r);
    if (o.slots) r.way = &way_slots;
    if (!end.code) end = run_all(&r);
    event_end(&r, end.reason, end.code);
    return end.code;
}
