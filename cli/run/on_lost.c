/*
 * run/on_lost.c: what --on-lost says: term, kill, warn, the name of a signal,
 * or exec:COMMAND.
 *
 * The rule: a word that is none of these is refused before anything is locked.
 * A typo taken for a command would show only on the day the lock is lost.
 */
#include "common/text.h"
#include "run/run.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Signals that end a command, or that a command may handle in its own way.
 * KILL follows in any case. */
static const struct {
    const char *name;
    int sig;
} ending[] = {
    {"term", SIGTERM}, {"int", SIGINT},   {"hup", SIGHUP},   {"quit", SIGQUIT},
    {"usr1", SIGUSR1}, {"usr2", SIGUSR2}, {"abrt", SIGABRT}, {"alrm", SIGALRM},
};

static int signal_find(const char *name)
{
    if (strncasecmp(name, "sig", 3) == 0) name += 3;
    for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
        if (strcasecmp(name, ending[i].name) == 0) return ending[i].sig;
    return 0;
}

static int is_kill(const char *text)
{
    return strcasecmp(text, "kill") == 0 || strcasecmp(text, "sigkill") == 0;
}

static int on_lost_refuse(const struct run *r, const char *text)
{
    char shown[128], what[384];
    snprintf(what, sizeof(what),
             "--on-lost %s: must be term, kill, warn, the name of a signal "
             "(int, hup, quit, usr1, usr2, abrt or alrm), or exec:COMMAND to "
             "run a command",
             text_escape(text[0] ? text : "''", shown, sizeof(shown)));
    return run_usage(r, what);
}

int on_lost_set(struct run *r)
{
    const char *text = r->o->on_lost;
    r->on_lost = ON_LOST_TERM;
    r->lost_signal = SIGTERM;
    if (!text) return 0;
    if (strncmp(text, "exec:", 5) == 0 && text[5]) {
        r->on_lost = ON_LOST_HOOK;
        r->lost_command = text + 5;
    } else if (strcmp(text, "warn") == 0) {
        r->on_lost = ON_LOST_WARN;
    } else if (is_kill(text)) {
        r->on_lost = ON_LOST_KILL;
    } else {
        int sig = signal_find(text);
        if (!sig) return on_lost_refuse(r, text);
        r->lost_signal = sig;
    }
    return 0;
}
