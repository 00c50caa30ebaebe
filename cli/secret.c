/*
 * secret.c: where a password could be read by others.  One rule: the user is
 * told, and nothing is refused for it.
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* "user:password@host": a colon before an '@', in the same word of a list of
 * hosts. */
static int hosts_have_password(const char *hosts, size_t len)
{
    int has_colon = 0;
    for (size_t i = 0; i < len; i++) {
        if (hosts[i] == ',') has_colon = 0;
        if (hosts[i] == ':') has_colon = 1;
        if (hosts[i] == '@' && has_colon) return 1;
    }
    return 0;
}

int url_has_password(const char *url)
{
    while ((url = strstr(url, "://")) != NULL) {
        url += strlen("://");
        size_t len = strcspn(url, "/?#|");
        if (hosts_have_password(url, len)) return 1;
    }
    return 0;
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

/* A value of the URL, up to `len`, without its %XX. */
static void value_decode(const char *from, size_t len, char *out, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < len && n + 1 < size; i++) {
        char code[3] = {0};
        if (from[i] == '%' && i + 2 < len) {
            memcpy(code, from + i + 1, 2);
            i += 2;
        }
        out[n++] = code[0] ? (char)strtoul(code, NULL, 16) : from[i];
    }
    out[n] = '\0';
}

/* password_file= and those like it, of every member. */
void url_files_check(const char *url)
{
    static const char word[] = "password_file=";
    char name[64], path[4096];
    for (const char *at = url; (at = strstr(at, word)) != NULL;) {
        const char *begin = at;
        while (begin > url && !strchr("?&", begin[-1])) begin--;
        at += strlen(word);
        size_t len = strcspn(at, "&|");
        snprintf(name, sizeof(name), "%.*s", (int)(at - 1 - begin), begin);
        value_decode(at, len, path, sizeof(path));
        file_tell(name, path);
    }
}

void password_file_check(const char *path)
{
    file_tell("HOLDFAST_PASSWORD_FILE", path);
}

void url_file_check(const char *path, const char *url)
{
    if (url_has_password(url)) file_tell("the URL's file", path);
}
