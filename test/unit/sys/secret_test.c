/*
 * secret_test.c: passwords in files.  What cannot be used is named; what can be
 * is taken as it is, but for the end of its line.
 */
#include "sys/secret.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static char dir[64], path[128];
static char *secret;
static struct hf_error err;

static void files_end(void *arg)
{
    (void)arg;
    hf__free_secret(&hf__alloc_default, secret);
    secret = NULL;
    remove(path);
    rmdir(dir);
}

static void file_make(const char *bytes, size_t len, mode_t mode)
{
    if (!dir[0] || access(dir, F_OK) != 0) {
        snprintf(dir, sizeof dir, "/tmp/hf-secret-XXXXXX");
        CHECK(mkdtemp(dir) != NULL);
        snprintf(path, sizeof path, "%s/secret", dir);
        test_cleanup(files_end, NULL);
    }
    FILE *f = fopen(path, "w");
    CHECK(f != NULL);
    CHECK_INT(fwrite(bytes, 1, len, f), len);
    CHECK_INT(fclose(f), 0);
    CHECK_INT(chmod(path, mode), 0);
}

static int secret_read(int *is_open)
{
    hf__free_secret(&hf__alloc_default, secret);
    secret = NULL;
    memset(&err, 0, sizeof err);
    return hf__secret_read("option", path, &hf__alloc_default, &secret, is_open,
                           &err);
}

static void is(const char *bytes, const char *wanted)
{
    file_make(bytes, strlen(bytes), 0600);
    CHECK_INT(secret_read(NULL), HF_OK);
    CHECK_STR(secret, wanted);
}

static void refuses(const char *bytes, size_t len, const char *why)
{
    file_make(bytes, len, 0600);
    CHECK_INT(secret_read(NULL), HF_INVALID);
    CHECK(secret == NULL);
    if (!strstr(err.text, why)) TEST_FAIL("%s", err.text);
    CHECK(!strncmp(err.text, "option: ", 8));
    CHECK(strstr(err.text, "geheim") == NULL);
}

TEST(secret, is_the_first_line_without_its_end)
{
    is("geheim", "geheim");
    is("geheim\n", "geheim");
    is("geheim\r\n", "geheim");
    is("geheim\nmore\n", "geheim");
    is(" with blanks \n", " with blanks ");
    is("caf\xc3\xa9\n", "caf\xc3\xa9");
}

TEST(secret, that_is_no_line_of_text_is_refused)
{
    static char long_one[SECRET_LEN_MAX + 100];
    memset(long_one, 'x', sizeof long_one);
    refuses("", 0, "empty");
    refuses("\ngeheim", 7, "empty");
    refuses("geheim\0x\n", 9, "no text");
    refuses(long_one, sizeof long_one, "too long");
    refuses(long_one, SECRET_LEN_MAX + 1, "too long");
    file_make(long_one, SECRET_LEN_MAX, 0600);
    CHECK_INT(secret_read(NULL), HF_OK);
    CHECK_INT(strlen(secret), SECRET_LEN_MAX);
}

TEST(secret, that_others_may_read_is_told)
{
    int is_open = 7;
    file_make("geheim", 6, 0640);
    CHECK_INT(secret_read(&is_open), HF_OK);
    CHECK_INT(is_open, 0);
    file_make("geheim", 6, 0644);
    CHECK_INT(secret_read(&is_open), HF_OK);
    CHECK_INT(is_open, 1);
}

TEST(secret, that_is_no_file_is_refused_without_waiting)
{
    file_make("", 0, 0600);
    remove(path);
    CHECK_INT(secret_read(NULL), HF_INVALID);
    CHECK(strstr(err.text, "No such file") != NULL);
    CHECK_INT(mkfifo(path, 0600), 0);
    CHECK_INT(secret_read(NULL), HF_INVALID);
    CHECK(strstr(err.text, "it is no file") != NULL);
}

TEST(secret, that_we_may_not_read_is_denied)
{
    file_make("geheim", 6, 0);
    int status = secret_read(NULL);
    /* Root may read everything. */
    CHECK_INT(status, geteuid() == 0 ? HF_OK : HF_DENIED);
}
