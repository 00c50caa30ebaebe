/*
 * session/url.c: the URL, the user and the password, from options and
 * environment.
 *
 * A password comes from the environment or a file.  If other users can read it,
 * on the command line or in a file with wide permissions, there is a warning,
 * but nothing is refused.
 *
 * One rule: credentials come from where the URL comes from.  Those of the
 * environment reach no server that has its own in the configuration file.
 */
#include "common/environment.h"
#include "common/exit.h"
#include "common/say.h"
#include "session/config_file.h"
#include "session/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* 1 if the configuration file has the URL, and has a login for it. */
static int is_own(const struct session *s)
{
    const struct config *c = &s->conf;
    if (!s->is_of_conf) return 0;
    return c->user[0] || c->password[0] || c->has_password_file
           || (hf_url_traits(c->url) & HF_URL_LOGIN);
}

static const char *value_of(const struct session *s, const char *name,
                            const char *of_conf)
{
    if (!is_own(s)) return environment_get(name);
    return of_conf[0] ? of_conf : NULL;
}

const char *session_user(const struct session *s)
{
    return value_of(s, "HOLDFAST_USER", s->conf.user);
}

const char *session_password(const struct session *s)
{
    return value_of(s, "HOLDFAST_PASSWORD", s->conf.password);
}

const char *session_password_file(const struct session *s)
{
    return value_of(s, "HOLDFAST_PASSWORD_FILE", "");
}

static void variable_set(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

void session_environment(const struct session *s)
{
    if (!is_own(s)) return;
    variable_set("HOLDFAST_USER", session_user(s));
    variable_set("HOLDFAST_PASSWORD_FILE", session_password_file(s));
}

static int file_is_open(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && (st.st_mode & S_IROTH);
}

static void file_tell(const char *what, const char *path)
{
    char shown[1024];
    if (file_is_open(path))
        say_warn("%s: %s: every user of this host may read it: chmod 600", what,
                 text_escape(path, shown, sizeof(shown)));
}

static void url_file_check(const char *path, const char *url)
{
    if (hf_url_traits(url) & HF_URL_PASSWORD) file_tell("the URL's file", path);
}

/* The first line of `path`, without blanks around it. */
static int url_read(struct session *s, const char *path, const char **out)
{
    FILE *f = fopen(path, "re");
    if (!f) {
        say_error("%s: cannot be read: %s", path, strerror(errno));
        return errno == EACCES ? EXIT_DENIED : EXIT_CONFIG;
    }
    char *line = fgets(s->url_line, sizeof(s->url_line), f);
    (void)fclose(f);
    if (line) {
        line[strcspn(line, "\r\n")] = '\0';
        line += strspn(line, " \t");
        line[strcspn(line, " \t")] = '\0';
    }
    if (!line || !line[0]) {
        say_error("%s: no URL in its first line", path);
        return EXIT_CONFIG;
    }
    url_file_check(path, line);
    *out = line;
    return EXIT_OK;
}

static int url_refuse(int code, const char *why)
{
    say_error("%s", why);
    return code;
}

/* The URL of the configuration file; `*out` stays NULL if there is none. */
static int url_of_conf(struct session *s, const struct options *o,
                       const char **out)
{
    char shown[1024];
    text_escape(s->conf.path, shown, sizeof(shown));
    int is_chosen =
        config_is_chosen(o) || (s->conf.is_named && s->conf.has_lines);
    if (!s->conf.url[0] && (is_chosen || config_says_where(&s->conf))) {
        say_error("%s: there is no url, which the other keys need", shown);
        return EXIT_CONFIG;
    }
    s->is_default = !s->conf.url[0];
    if (s->is_default) return EXIT_OK;
    s->is_of_conf = 1;
    *out = s->url_line;
    return config_url(&s->conf, s->url_line, sizeof(s->url_line));
}

static int url_of_environment(struct session *s, const char **out)
{
    if (environment_is_empty("HOLDFAST_URL"))
        return url_refuse(EXIT_CONFIG, "HOLDFAST_URL: empty: unset it, or name "
                                       "where the locks live");
    *out = environment_get("HOLDFAST_URL");
    if (*out) return EXIT_OK;
    const char *file = environment_get("HOLDFAST_URL_FILE");
    return file ? url_read(s, file, out) : EXIT_OK;
}

/* The command line wins over the environment, that over the configuration file,
 * and the URL over its file. */
static int url_choose(struct session *s, const struct options *o,
                      const char **out)
{
    int is_named = config_is_chosen(o) == 1;
    if (o->url && o->url_file)
        return url_refuse(EXIT_USAGE,
                          "--url and --url-file: only one of them can be used");
    if (is_named && (o->url || o->url_file))
        return url_refuse(EXIT_USAGE, "--profile and --url or --url-file: only "
                                      "one of them can be used");
    if (o->url && hf_url_traits(o->url) & HF_URL_PASSWORD)
        say_warn("--url: there is a password in it, which ps(1) shows to "
                 "everybody; use HOLDFAST_PASSWORD, HOLDFAST_PASSWORD_FILE "
                 "or --url-file");
    *out = o->url;
    if (o->url) return EXIT_OK;
    if (o->url_file) return url_read(s, o->url_file, out);
    int code = is_named ? EXIT_OK : url_of_environment(s, out);
    return code || *out ? code : url_of_conf(s, o, out);
}

int session_url(struct session *s, const struct options *o, const char **out)
{
    s->is_of_conf = s->is_default = 0;
    int code = config_read(o, &s->conf);
    if (!code) code = require_read(&s->conf, &s->require);
    return code ? code : url_choose(s, o, out);
}
