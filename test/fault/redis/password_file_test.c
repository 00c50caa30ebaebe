/*
 * password_file_test.c: a password that is kept in a file.  One rule: it may be
 * changed at any time, and is shown to nobody but the server.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/rig.h"
#include "lib/rig_redis.h"

#define FIRST "correct horse"
#define SECOND "battery staple"

static struct lab_server r;
static char path[200], url[300];
static atomic_int warnings, secrets;

static void on_log(int level, const char *line, void *user)
{
    (void)level;
    (void)user;
    if (strstr(line, "chmod 600")) atomic_fetch_add(&warnings, 1);
    if (strstr(line, FIRST) || strstr(line, SECOND))
        atomic_fetch_add(&secrets, 1);
}

static void file_write(const char *text, mode_t mode)
{
    char temporary[220];
    snprintf(temporary, sizeof temporary, "%s.new", path);
    FILE *file = fopen(temporary, "w");
    CHECK(file != NULL);
    fputs(text, file);
    CHECK_INT(fclose(file), 0);
    CHECK_INT(chmod(temporary, mode), 0);
    CHECK_INT(rename(temporary, path), 0); /* as a rotation does */
}

static void password_set(const char *text)
{
    CHECK_STR(
        redis_say(&r, "ACL SETUSER eve reset on \">%s\" ~* &* +@all", text),
        "OK");
    redis_say(&r, "CLIENT KILL TYPE normal SKIPME yes");
    redis_say(&r, "CLIENT KILL TYPE pubsub");
}

static void begin(void)
{
    atomic_store(&warnings, 0);
    atomic_store(&secrets, 0);
    redis_begin(&r, NULL);
    rig_begin_at("");
    snprintf(path, sizeof path, "%s/password", r.dir);
    snprintf(url, sizeof url, "redis://eve@127.0.0.1:%d?password_file=%s",
             r.port, path);
    file_write(FIRST "\n", 0600);
    password_set(FIRST);
}

static hf_client *client_open(const char *file)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    char plain[80];
    o.log = on_log;
    o.log_level = HF_LOG_DEBUG;
    o.user = file ? "eve" : NULL;
    o.password_file = file;
    snprintf(plain, sizeof plain, "redis://127.0.0.1:%d", r.port);
    return rig_client_at(file ? plain : url, &o);
}

TEST(password_file, by_the_url_or_the_options_opens_the_store)
{
    begin();
    CHECK_INT(rig_probe(rig_lock(client_open(NULL), "a")), HF_OK);
    CHECK_INT(rig_probe(rig_lock(client_open(path), "a")), HF_OK);
    file_write(FIRST, 0600); /* without a newline */
    CHECK_INT(rig_probe(rig_lock(client_open(path), "a")), HF_OK);
    file_write(FIRST "\r\nand more\n", 0600);
    CHECK_INT(rig_probe(rig_lock(client_open(path), "a")), HF_OK);
    CHECK_INT(atomic_load(&warnings), 0);
    CHECK_INT(atomic_load(&secrets), 0);
}

TEST(password_file, that_was_changed_is_read_at_the_next_connect)
{
    hf_hold *g = NULL;
    begin();
    hf_lock *l = rig_lock(client_open(NULL), "a");
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    for (int i = 0; i < 4; i++) {
        file_write(i % 2 ? FIRST : SECOND, 0600);
        password_set(i % 2 ? FIRST : SECOND);
        CHECK_INT(hf_hold_extend(g, 0, NULL), HF_OK);
    }
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

TEST(password_file, that_is_late_is_denied_and_then_works_by_itself)
{
    struct hf_error err = {0};
    begin();
    hf_lock *l = rig_lock(client_open(NULL), "a");
    CHECK_INT(rig_probe(l), HF_OK);
    password_set(SECOND);
    int64_t end_ms = rig_now_ms() + RIG_PATIENCE_MS;
    int status = HF_OK;
    while ((status = hf_lock_try(l, NULL, &err)) != HF_DENIED) {
        CHECK(rig_now_ms() < end_ms);
        if (status == HF_OK) hf_lock_release(l, NULL, NULL);
    }
    CHECK(!strstr(err.text, FIRST));
    file_write(SECOND, 0600);
    while (rig_probe(l) != HF_OK) {
        CHECK(rig_now_ms() < end_ms);
        rig_pause_ms(20);
    }
    CHECK_INT(atomic_load(&secrets), 0);
}

TEST(password_file, that_vanishes_is_named_and_missed_until_it_is_back)
{
    struct hf_error err = {0};
    begin();
    hf_lock *l = rig_lock(client_open(NULL), "a");
    CHECK_INT(rig_probe(l), HF_OK);
    CHECK_INT(unlink(path), 0);
    password_set(FIRST);
    int64_t end_ms = rig_now_ms() + RIG_PATIENCE_MS;
    while (!strstr(err.text, "password: No such file")) {
        CHECK(rig_now_ms() < end_ms);
        if (hf_lock_try(l, NULL, &err) == HF_OK) hf_lock_release(l, NULL, NULL);
    }
    CHECK_INT(err.status, HF_UNAVAILABLE);
    file_write(FIRST, 0600);
    while (rig_probe(l) != HF_OK) {
        CHECK(rig_now_ms() < end_ms);
        rig_pause_ms(20);
    }
}

TEST(password_file, that_everybody_may_read_is_warned_of_once)
{
    begin();
    file_write(FIRST, 0644);
    hf_lock *l = rig_lock(client_open(NULL), "a");
    CHECK_INT(rig_probe(l), HF_OK);
    password_set(FIRST);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
    CHECK_INT(atomic_load(&warnings), 1);
    CHECK_INT(atomic_load(&secrets), 0);
}

TEST(password_file, options_win_over_the_url)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    char other[320];
    begin();
    o.password = FIRST;
    snprintf(other, sizeof other, "%s.none", url);
    CHECK_INT(rig_probe(rig_lock(rig_client_at(other, &o), "a")), HF_OK);
    o.password = NULL;
    o.password_file = path;
    CHECK_INT(rig_probe(rig_lock(rig_client_at(other, &o), "a")), HF_OK);
    snprintf(other, sizeof other, "redis://eve:wrong@127.0.0.1:%d", r.port);
    CHECK_INT(rig_probe(rig_lock(rig_client_at(other, &o), "a")), HF_OK);
}

static void refused(const char *to, const struct hf_client_options *o,
                    const char *word)
{
    struct hf_error err = {0};
    hf_client *c = NULL;
    CHECK_INT(hf_client_open(to, o, &c, &err), HF_INVALID);
    if (!strstr(err.text, word)) TEST_FAIL("%s", err.text);
    CHECK(!strstr(err.text, FIRST) && !strstr(err.text, SECOND));
}

TEST(password_file, that_cannot_be_used_is_refused_at_once)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    char to[300];
    begin();
    file_write("\n" FIRST, 0600);
    refused(url, &o, "first line is empty");
    file_write("", 0600);
    refused(url, &o, "first line is empty");
    o.password_file = "/nonexistent/password";
    refused(url, &o, "/nonexistent/password: No such file");
    o.password_file = "/";
    refused(url, &o, "it is no file");
    o.password_file = path;
    o.password = SECOND;
    refused(url, &o, "only one of them");
    snprintf(to, sizeof to, "redis://eve:%s@127.0.0.1:%d?password_file=%s",
             "battery%20staple", r.port, path);
    refused(to, NULL, "password_file: there is a password");
}
