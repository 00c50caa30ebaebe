/*
 * session/url.c: the URL, the user and the password, from options and
 * environment.
 *
 * One rule: a password comes from the environment or a file.  If other users
 * can read it, on the command line or in a file with wide permissions, there is
 * a warning, but nothing is refused.
 */
#include "common/environment.h"
#include "common/exit.h"
#include "common/say.h"
#include "session/session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

const char *session_user(void)
{
    return environment_get("HOLDFAST_USER");
}

const char *session_password(void)
{
    return environment_get("HOLDFAST_PASSWORD");
}

const char *session_password_file(void)
{
    return environment_get("HOLDFAST_PASSWORD_FILE");
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

/* The command line wins over the environment, the URL over its file. */
int session_url(struct session *s, const struct options *o, const char **out)
{
    if (o->url && o->url_file) {
        say_error("--url and --url-file: only one of them can be used");
        return EXIT_USAGE;
    }
    if (o->url && hf_url_traits(o->url) & HF_URL_PASSWORD)
        say_warn("--url: there is a password in it, which ps(1) shows to "
                 "everybody; use HOLDFAST_PASSWORD, HOLDFAST_PASSWORD_FILE "
                 "or --url-file");
    *out = o->url;
    if (o->url) return EXIT_OK;
    if (o->url_file) return url_read(s, o->url_file, out);
    *out = environment_get("HOLDFAST_URL");
    if (*out) return EXIT_OK;
    const char *file = environment_get("HOLDFAST_URL_FILE");
    return file ? url_read(s, file, out) : EXIT_OK;
}
