/*
 * session/secret.c: where a password could be read by others.  One rule: the
 * user is told, and nothing is refused for it.
 */
#include "cli.h"

#include <sys/stat.h>

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

void url_file_check(const char *path, const char *url)
{
    if (hf_url_traits(url) & HF_URL_PASSWORD) file_tell("the URL's file", path);
}
