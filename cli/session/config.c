/*
 * session/config.c: the configuration file.
 *
 *     url = redis://10.0.0.5
 *     require = distributed
 *     [prod]
 *     url = redis://10.1.0.5
 *     password_file = /etc/holdfast.password
 *
 * One rule: a profile has only what stands under its own name, but for
 * `require`, which holds for all.  A password must not reach the server of
 * another profile.
 */
#include "session/config.h"
#include "common/environment.h"
#include "common/exit.h"
#include "common/say.h"
#include "common/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define SYSTEM_FILE "/etc/holdfast.conf"
#define USER_FILE ".config/holdfast.conf"
#define LINE_MAX_LEN 4096
#define NAME_LEN_MAX 64

static struct {
    const char *file, *profile, *require;
} chosen;

/* A file that is being read. */
struct reader {
    struct config *out;
    const char *path;
    const char *profile; /* "": the keys in front of the first profile */
    char section[NAME_LEN_MAX];
    int line;
    int is_found; /* the profile is in this file */
};

void config_choose(const char *file, const char *profile, const char *require)
{
    chosen.file = file;
    chosen.profile = profile;
    chosen.require = require;
}

static const char *first_of(const char *a, const char *b, const char *c)
{
    return a ? a : b ? b : c;
}

int config_is_chosen(const struct options *o)
{
    if (o->profile || chosen.profile) return 1;
    return environment_get("HOLDFAST_PROFILE") ? 2 : 0;
}

/* ---- one line ---- */

/* The line itself is not shown: it may be of a file that only we may read. */
static int line_refuse(const struct reader *rd, const char *what,
                       const char *why)
{
    char path[1024], shown[256];
    say_error("%s: line %d: %s%s%s", text_escape(rd->path, path, sizeof(path)),
              rd->line, text_escape(what, shown, sizeof(shown)),
              what[0] ? ": " : "", why);
    return EXIT_CONFIG;
}

static char *trim(char *text)
{
    text += strspn(text, " \t\r\n");
    size_t len = strlen(text);
    while (len > 0 && strchr(" \t\r\n", text[len - 1])) text[--len] = '\0';
    return text;
}

static int is_word(const char *text)
{
    size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyz"
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.");
    return len > 0 && len < NAME_LEN_MAX && !text[len];
}

static int section_take(struct reader *rd, char *line)
{
    size_t len = strlen(line);
    if (line[len - 1] != ']')
        return line_refuse(rd, "", "a profile is a name in brackets: [prod]");
    line[len - 1] = '\0';
    char *name = trim(line + 1);
    if (!is_word(name))
        return line_refuse(rd, "",
                           "the name of a profile has letters, digits, "
                           "_, - and .");
    snprintf(rd->section, sizeof(rd->section), "%s", name);
    if (strcmp(name, rd->profile) == 0) rd->is_found = 1;
    return EXIT_OK;
}

static int text_set(const struct reader *rd, const char *key, char *out,
                    size_t size, const char *value)
{
    if (out[0]) return line_refuse(rd, key, "given twice");
    if (strlen(value) >= size) return line_refuse(rd, key, "too long");
    snprintf(out, size, "%s", value);
    return EXIT_OK;
}

/* Any other key is an option of the URL, which the library knows. */
static int option_add(const struct reader *rd, const char *key,
                      const char *value)
{
    char *out = rd->out->keys;
    size_t len = strlen(out), size = sizeof(rd->out->keys);
    len +=
        (size_t)snprintf(out + len, size - len, "%s%s=", len ? "&" : "", key);
    for (const unsigned char *p = (const unsigned char *)value; *p; p++) {
        if (len + 4 >= size) return line_refuse(rd, key, "too long");
        int is_plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z')
                       || (*p >= '0' && *p <= '9') || strchr("-._~/,:", *p);
        len += (size_t)snprintf(out + len, size - len,
                                is_plain ? "%c" : "%%%02X", *p);
    }
    return EXIT_OK;
}

static int key_take(const struct reader *rd, const char *key, const char *value)
{
    struct config *c = rd->out;
    int is_secret =
        strcmp(key, "password") == 0
        || (strcmp(key, "url") == 0 && hf_url_traits(value) & HF_URL_PASSWORD);
    if (is_secret) c->has_secret = 1;
    int is_ours = strcmp(rd->section, rd->profile) == 0;
    if (strcmp(key, "require") == 0 && (is_ours || !rd->section[0])) {
        size_t len = strlen(c->require);
        if (len + strlen(value) + 2 >= sizeof(c->require))
            return line_refuse(rd, key, "too long");
        snprintf(c->require + len, sizeof(c->require) - len, "%s%s",
                 len ? "," : "", value);
        return EXIT_OK;
    }
    if (!is_ours || strcmp(key, "require") == 0) return EXIT_OK;
    if (strcmp(key, "url") == 0)
        return text_set(rd, key, c->url, sizeof(c->url), value);
    if (strcmp(key, "user") == 0)
        return text_set(rd, key, c->user, sizeof(c->user), value);
    if (strcmp(key, "password") == 0)
        return text_set(rd, key, c->password, sizeof(c->password), value);
    return option_add(rd, key, value);
}

static int line_take(struct reader *rd, char *text)
{
    char *line = trim(text);
    if (!line[0] || line[0] == '#' || line[0] == ';') return EXIT_OK;
    if (line[0] == '[') return section_take(rd, line);
    char *equals = strchr(line, '=');
    if (!equals)
        return line_refuse(rd, "", "neither KEY = VALUE nor [PROFILE]");
    *equals = '\0';
    const char *key = trim(line), *value = trim(equals + 1);
    if (!is_word(key))
        return line_refuse(rd, "", "a key is one word, such as url");
    if (!value[0]) return line_refuse(rd, key, "has no value");
    return key_take(rd, key, value);
}

/* ---- one file ---- */

static int lines_take(struct reader *rd, FILE *f)
{
    char text[LINE_MAX_LEN];
    int code = EXIT_OK;
    while (!code && fgets(text, sizeof(text), f)) {
        rd->line++;
        if (strlen(text) == sizeof(text) - 1)
            return line_refuse(rd, "", "too long");
        code = line_take(rd, text);
    }
    if (!code && ferror(f)) return line_refuse(rd, "", "cannot be read");
    return code;
}

static int file_refuse(const char *path, int why)
{
    char shown[1024];
    say_error("%s: cannot be read: %s", text_escape(path, shown, sizeof(shown)),
              strerror(why));
    return why == EACCES ? EXIT_DENIED : EXIT_CONFIG;
}

/* A password that others may read is no password. */
static int secret_check(const struct config *c, FILE *f, const char *path)
{
    struct stat st;
    char shown[1024];
    if (!c->has_secret || fstat(fileno(f), &st) != 0) return EXIT_OK;
    if (!(st.st_mode & S_IROTH)) return EXIT_OK;
    say_error("%s: there is a password in it, and every user of this host may "
              "read it: chmod 640, or put it into a password_file",
              text_escape(path, shown, sizeof(shown)));
    return EXIT_CONFIG;
}

/* `is_needed`: it is an error if there is no such file. */
static int file_read(struct config *out, const char *path, const char *profile,
                     int is_needed, int *is_found)
{
    struct reader rd = {.out = out, .path = path, .profile = profile};
    memset(out, 0, sizeof(*out));
    FILE *f = fopen(path, "re");
    if (!f && !is_needed && (errno == ENOENT || errno == ENOTDIR))
        return EXIT_OK;
    if (!f) return file_refuse(path, errno);
    int code = lines_take(&rd, f);
    if (!code) code = secret_check(out, f, path);
    (void)fclose(f);
    *is_found = profile[0] ? rd.is_found : out->url[0] || out->require[0];
    if (*is_found) snprintf(out->path, sizeof(out->path), "%s", path);
    return code;
}

static int profile_missing(const char *profile, const char *file)
{
    char shown[256], path[1024];
    say_error("%s: no such profile in %s",
              text_escape(profile, shown, sizeof(shown)),
              file ? text_escape(file, path, sizeof(path))
                   : "~/" USER_FILE " or " SYSTEM_FILE);
    return EXIT_CONFIG;
}

/* ---- which file, which profile ---- */

static int require_add(struct config *out, const char *text)
{
    size_t len = strlen(out->require);
    if (len + strlen(text) + 2 > sizeof(out->require)) {
        say_error("require: too long");
        return EXIT_CONFIG;
    }
    snprintf(out->require + len, sizeof(out->require) - len, "%s%s",
             len ? "," : "", text);
    return EXIT_OK;
}

/* The user's file, and else that of the system, whose `require` holds in any
 * case. */
static int files_read(struct config *out, const char *profile, int *is_found)
{
    const char *home = environment_get("HOME");
    struct config of_system;
    char path[1024];
    int found = 0, code = EXIT_OK;
    if (home) {
        snprintf(path, sizeof(path), "%s/" USER_FILE, home);
        code = file_read(out, path, profile, 0, is_found);
    }
    if (code) return code;
    code =
        file_read(&of_system, SYSTEM_FILE, *is_found ? "" : profile, 0, &found);
    if (code) return code;
    if (*is_found)
        return of_system.require[0] ? require_add(out, of_system.require)
                                    : EXIT_OK;
    *out = of_system;
    *is_found = found;
    return EXIT_OK;
}

int config_read(const struct options *o, struct config *out)
{
    const char *file =
        first_of(o->config, chosen.file, environment_get("HOLDFAST_CONFIG"));
    const char *profile = first_of(o->profile, chosen.profile,
                                   environment_get("HOLDFAST_PROFILE"));
    const char *require = o->require ? o->require : chosen.require;
    int is_found = 0;
    if (!profile) profile = "";
    memset(out, 0, sizeof(*out));
    int code = file ? file_read(out, file, profile, 1, &is_found)
                    : files_read(out, profile, &is_found);
    if (code) return code;
    if (profile[0] && !is_found) return profile_missing(profile, file);
    return require ? require_add(out, require) : EXIT_OK;
}

int config_url(const struct config *c, char *out, size_t size)
{
    char path[1024];
    unsigned traits = hf_url_traits(c->url);
    text_escape(c->path, path, sizeof(path));
    if (c->keys[0] && traits & HF_URL_QUORUM) {
        say_error("%s: %.*s: the options of a quorum stand in its url", path,
                  (int)strcspn(c->keys, "="), c->keys);
        return EXIT_CONFIG;
    }
    const char *sign = !c->keys[0] ? "" : traits & HF_URL_OPTIONS ? "&" : "?";
    int len = snprintf(out, size, "%s%s%s", c->url, sign, c->keys);
    if (len >= 0 && (size_t)len < size) return EXIT_OK;
    say_error("%s: url: too long with its options", path);
    return EXIT_CONFIG;
}
