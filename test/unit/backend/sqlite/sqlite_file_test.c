/*
 * sqlite_file_test.c: which files are taken as a store, and which are refused.
 * One rule: a refusal says what is wrong with the file, and leaves it as it is.
 */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/proc.h"
#include "lib/rig.h"

static char path[256];

static void begin(void)
{
    rig_begin_on("sqlite");
    snprintf(path, sizeof path, "%s/locks.db", rig_dir());
}

static int open_url(const char *url, struct hf_error *err)
{
    hf_client *c = NULL;
    *err = (struct hf_error){0};
    int status = hf_client_open(url, NULL, &c, err);
    hf_client_close(c);
    return status;
}

static void refused(const char *url, int status, const char *words)
{
    struct hf_error err;
    CHECK_INT(open_url(url, &err), status);
    if (!strstr(err.text, words))
        TEST_FAIL("%s: \"%s\" has no \"%s\"", url, err.text, words);
}

static void sql(const char *text)
{
    sqlite3 *db = NULL;
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, RIG_WAIT_MS);
    CHECK_INT(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void write_text(const char *text)
{
    FILE *f = fopen(path, "w");
    CHECK(f != NULL);
    for (int i = 0; i < 50; i++) fputs(text, f);
    fclose(f);
}

TEST(sqlite_file, a_new_file_is_made_with_its_tables)
{
    begin();
    CHECK_INT(rig_probe(rig_lock(rig_client(NULL), "a")), HF_OK);
    sql("SELECT counter FROM holdfast_lock; SELECT value FROM holdfast_meta");
}

TEST(sqlite_file, a_file_that_is_no_database_is_refused_and_stays)
{
    struct stat st;
    begin();
    write_text("this is a letter, and not a database at all\n");
    refused(rig_url(), HF_CONFLICT, "not a database");
    CHECK_INT(stat(path, &st), 0);
    CHECK_INT(st.st_size, 50 * 44);
}

TEST(sqlite_file, a_directory_and_a_missing_folder_are_refused)
{
    char url[300];
    begin();
    snprintf(url, sizeof url, "sqlite:%s", rig_dir());
    refused(url, HF_INVALID, "directory");
    snprintf(url, sizeof url, "sqlite:%s/none/locks.db", rig_dir());
    refused(url, HF_INVALID, "the folder does not exist");
}

TEST(sqlite_file, options_and_places_that_make_no_sense_are_refused)
{
    char url[300];
    begin();
    refused("sqlite:", HF_INVALID, "not a file");
    refused("sqlite::memory:", HF_INVALID, "not a file");
    refused("sqlite://host/locks.db", HF_INVALID, "a host");
    snprintf(url, sizeof url, "%s?sync=sometimes", rig_url());
    refused(url, HF_INVALID, "not full or normal");
    snprintf(url, sizeof url, "%s?colour=red", rig_url());
    refused(url, HF_INVALID, "colour");
    snprintf(url, sizeof url, "%s?sync=full", rig_url());
    CHECK_INT(rig_probe(rig_lock(rig_client_at(url, NULL), "a")), HF_OK);
}

TEST(sqlite_file, another_schema_is_refused)
{
    struct hf_error err;
    begin();
    CHECK_INT(open_url(rig_url(), &err), HF_OK);
    sql("UPDATE holdfast_meta SET value = '2' WHERE key = 'schema'");
    refused(rig_url(), HF_CONFLICT, "schema 2");
}

TEST(sqlite_file, a_database_of_another_program_needs_a_word)
{
    char url[300];
    begin();
    sql("CREATE TABLE letters (text)");
    refused(rig_url(), HF_CONFLICT, "another program's");
    snprintf(url, sizeof url, "%s?schema=create", rig_url());
    CHECK_INT(rig_probe(rig_lock(rig_client_at(url, NULL), "a")), HF_OK);
    CHECK_INT(rig_probe(rig_lock(rig_client(NULL), "a")), HF_OK);
    sql("SELECT text FROM letters");
}

TEST(sqlite_file, a_database_of_utf16_keeps_its_owners_apart)
{
    char url[300];
    struct hf_acquire_options o = rig_renewed(RIG_WAIT_MS);
    begin();
    sql("PRAGMA encoding = 'UTF-16'; CREATE TABLE letters (text)");
    snprintf(url, sizeof url, "%s?schema=create", rig_url());
    hf_lock *l = rig_lock(rig_client_at(url, NULL), "a");
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
    CHECK(rig_until_renewed(l, 0, 2));
    CHECK_INT(rig_is_held_by(l, hf_holder_self()), 1);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(l), HF_OK);
}

TEST(sqlite_file, a_damaged_row_is_refused_and_others_are_not)
{
    hf_lock *l;
    struct hf_error err = {0};
    begin();
    hf_client *c = rig_client(NULL);
    CHECK_INT(rig_probe(rig_lock(c, "a")), HF_OK);
    sql("UPDATE holdfast_lock SET state = x'63'");
    l = rig_lock(c, "a");
    CHECK_INT(hf_lock_try(l, NULL, &err), HF_CONFLICT);
    CHECK(strstr(err.text, "damaged") != NULL);
    CHECK_INT(rig_probe(rig_lock(c, "b")), HF_OK);
}

TEST(sqlite_file, a_path_is_relative_to_where_the_client_was_opened)
{
    char cwd[256];
    struct stat st;
    begin();
    CHECK(getcwd(cwd, sizeof cwd) != NULL);
    CHECK_INT(chdir(rig_dir()), 0);
    hf_client *c = rig_client_at("sqlite:near.db", NULL);
    CHECK_INT(chdir(cwd), 0);
    CHECK_INT(rig_probe(rig_lock(c, "a")), HF_OK);
    snprintf(path, sizeof path, "%s/near.db", rig_dir());
    CHECK_INT(stat(path, &st), 0);
}

/* ---- as another user, and in a child ------------------------------------ */

/* Root may write anywhere, so this is asked as nobody. */
static int nobody_opens(struct lab_proc *self, const void *arg)
{
    struct hf_error err;
    char line[PROC_LINE_MAX];
    (void)arg;
    if (!proc_hear(self, line, RIG_PATIENCE_MS)) return 1;
    if (geteuid() == 0 && setuid(65534)) return 2;
    int status = open_url(line, &err);
    proc_say(self, "%d %s", status, err.text);
    return 0;
}

static void nobody_is_refused(struct lab_proc *p, const char *words)
{
    char line[PROC_LINE_MAX];
    proc_say(p, "%s", rig_url());
    CHECK(proc_hear(p, line, RIG_PATIENCE_MS));
    int status = 0;
    sscanf(line, "%d", &status);
    CHECK_INT(status, HF_DENIED);
    if (!strstr(line, words)) TEST_FAIL("%s", line);
}

TEST(sqlite_file, a_file_that_may_only_be_read_is_refused)
{
    static struct lab_proc p;
    struct hf_error err;
    proc_start(&p, nobody_opens, NULL);
    begin();
    CHECK_INT(open_url(rig_url(), &err), HF_OK);
    CHECK_INT(chmod(path, 0444), 0);
    CHECK_INT(chmod(rig_dir(), 0777), 0);
    nobody_is_refused(&p, "may not be written to");
}

TEST(sqlite_file, a_folder_that_may_only_be_read_is_refused)
{
    static struct lab_proc p;
    proc_start(&p, nobody_opens, NULL);
    begin();
    CHECK_INT(chmod(rig_dir(), 0555), 0);
    nobody_is_refused(&p, "cannot be opened");
    CHECK_INT(chmod(rig_dir(), 0700), 0);
}

/* SQLite keeps its records of a file by process, and a child has the copy. */
TEST(sqlite_file, a_child_of_a_process_that_has_it_open_is_refused)
{
    struct hf_error err;
    int status = 0;
    begin();
    hf_client *c = rig_client(NULL);
    CHECK_INT(rig_probe(rig_lock(c, "a")), HF_OK);
    pid_t pid = proc_fork();
    if (pid == 0) {
        int is_refused = open_url(rig_url(), &err) == HF_UNSUPPORTED
                         && strstr(err.text, "fork first, then open") != NULL;
        _exit(is_refused ? 0 : 1);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK_INT(status, 0);
    CHECK_INT(rig_probe(rig_lock(c, "a")), HF_OK);
}
