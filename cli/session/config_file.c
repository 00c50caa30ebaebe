/*
 * session/config_file.c: one configuration file, line by line.
 *
 *     url = redis://10.0.0.5
 *     require = distributed
 *     [prod]
 *     url = redis://10.1.0.5
 *     password_file = /etc/holdfast.password
 *
 * One rule: a profile has only the keys below its own name, except for
 * `require`, which always holds.  A password must not reach the server of
 * another profile.
 */
#include "session/config_file.h"
#include "common/exit.h"
#include "common/say.h"
#include "common/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_MAX_LEN 4096
#define NAME_LEN_MAX 64

/* A file that is being read. */
struct reader {
    struct config *out;
    const char *path;
    const char *profile; /* "": the keys above the first profile */
    char section[NAME_LEN_MAX];
    int line;
    int is_found; /* the profile is in this file */
};

/* ---- one line ---- */

/* The text of the line is not shown: only this process may be allowed to read
 * the file. */
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
    if (strcmp(key, "password_file") == 0) c->has_password_file = 1;
    return option_add(rd, key, value);
}

static int line_take(struct reader *rd, char *text)
{
    char *line = trim(text);
    if (!line[0] || line[0] == '#' || line[0] == ';') return EXIT_OK;
    rd->out->has_lines = 1;
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

static int file_refuse(const char *path, int why)
{
    char shown[1024];
    say_error("%s: cannot be read: %s", text_escape(path, shown, sizeof(shown)),
              strerror(why));
    return why == EACCES ? EXIT_DENIED : EXIT_CONFIG;
}

static int lines_take(struct reader *rd, FILE *f)
{
    char text[LINE_MAX_LEN];
    int code = EXIT_OK;
    errno = 0;
    while (!code && fgets(text, sizeof(text), f)) {
        rd->line++;
        if (strlen(text) == sizeof(text) - 1)
            return line_refuse(rd, "", "too long");
        code = line_take(rd, text);
    }
    return !code && ferror(f) ? file_refuse(rd->path, errno) : code;
}

/* Refuse a file with a password that other users may read. */
static int secret_check(const struct config *c, const struct stat *st,
                        const char *path)
{
    char shown[1024];
    if (!c->has_secret || !(st->st_mode & S_IROTH)) return EXIT_OK;
    say_error("%s: there is a password in it, and every user of this host may "
              "read it: chmod 640, or put it into a password_file",
              text_escape(path, shown, sizeof(shown)));
    return EXIT_CONFIG;
}

static int is_ours(const struct stat *st)
{
    return st->st_uid == 0 || st->st_uid == geteuid();
}

/* Did another user choose what the path leads to?  A link may lead to a file
 * that is ours and has that user's words, as some of /proc do; and it may have
 * been put there after the file was opened. */
static int is_led(const struct stat *st, const char *path)
{
    struct stat at;
    if (lstat(path, &at) != 0 || !is_ours(&at)) return 1;
    return !S_ISLNK(at.st_mode)
           && (at.st_ino != st->st_ino || at.st_dev != st->st_dev);
}

/* HOME may be that of another user, as with sudo, and that user must not choose
 * where our locks live.  A file that was named is the caller's own choice.
 * Devices, such as /dev/null, say nothing that another user has written. */
static int owner_check(const struct stat *st, const char *path)
{
    char shown[1024];
    int is_open = (st->st_mode & S_IWOTH) && !S_ISCHR(st->st_mode);
    if (is_ours(st) && !is_open && !is_led(st, path)) return EXIT_OK;
    say_error("%s: refused: another user may change it; --config FILE names "
              "another file",
              text_escape(path, shown, sizeof(shown)));
    return EXIT_DENIED;
}

static int open_read(struct reader *rd, FILE *f, int is_named)
{
    struct stat st;
    if (fstat(fileno(f), &st) != 0) return file_refuse(rd->path, errno);
    int code = is_named ? EXIT_OK : owner_check(&st, rd->path);
    if (!code) code = lines_take(rd, f);
    return code ? code : secret_check(rd->out, &st, rd->path);
}

int config_says_where(const struct config *c)
{
    return c->url[0] || c->user[0] || c->password[0] || c->keys[0];
}

/* One that was not named may be a pipe of another user, where opening waits. */
static FILE *file_open(const char *path, int is_named)
{
    if (is_named) return fopen(path, "re");
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
    int why = errno;
    if (!f && fd >= 0) (void)close(fd);
    errno = why;
    return f;
}

int config_file_read(struct config *out, const char *path, const char *profile,
                     int is_named, int *is_found)
{
    struct reader rd = {.out = out, .path = path, .profile = profile};
    memset(out, 0, sizeof(*out));
    *is_found = 0;
    FILE *f = file_open(path, is_named);
    if (!f && !is_named && (errno == ENOENT || errno == ENOTDIR))
        return EXIT_OK;
    if (!f) return file_refuse(path, errno);
    snprintf(out->path, sizeof(out->path), "%s", path);
    int code = open_read(&rd, f, is_named);
    (void)fclose(f);
    *is_found = profile[0] ? rd.is_found : config_says_where(out);
    return code;
}
