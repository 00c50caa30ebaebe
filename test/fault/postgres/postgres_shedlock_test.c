/*
 * postgres_shedlock_test.c: layout=shedlock: a table shared with ShedLock.
 * One rule: what is claimed is in lib/shedlock.h, for every server.
 */
#include <stdio.h>
#include <string.h>

#include "lib/database_cut.h"
#include "lib/refused.h"
#include "lib/rig.h"
#include "lib/shedlock.h"

#define D (&database_postgres)

TEST(postgres_shedlock, excludes_shedlock_and_is_excluded_by_it)
{
    shed_excludes_and_is_excluded(D);
}

TEST(postgres_shedlock, waits_for_the_least_time_of_shedlock)
{
    shed_least_time_is_waited_for(D);
}

TEST(postgres_shedlock, lock_that_has_ended_is_free_and_its_late_unlock_void)
{
    shed_end_frees_it_and_a_late_unlock_does_not(D);
}

TEST(postgres_shedlock, hold_moves_the_end_of_the_row_and_leaves_it)
{
    shed_hold_moves_the_end_and_leaves_the_row(D);
}

TEST(postgres_shedlock, holder_that_is_shedlock_is_shown_listed_and_broken)
{
    shed_holder_is_shown_listed_and_broken(D);
}

TEST(postgres_shedlock, release_of_what_shedlock_has_by_now_changes_nothing)
{
    shed_release_of_what_another_has_changes_nothing(D);
}

TEST(postgres_shedlock, turns_with_shedlock_are_counted_exactly)
{
    shed_turns_are_counted_exactly(D);
}

TEST(postgres_shedlock, texts_of_other_programs_are_foreign)
{
    shed_texts_of_others_are_foreign(D);
}

TEST(postgres_shedlock, has_plain_locks_only)
{
    shed_has_plain_locks_only(D);
}

TEST(postgres_shedlock, names_are_text_of_64_bytes)
{
    shed_names_are_short_text(D);
}

/* ---- the line ----------------------------------------------------------- */

TEST(postgres_shedlock, line_that_is_cut_leaves_no_lock_along_the_requests)
{
    cut_along(&database_postgres_shedlock, LAB_UP, 20, 1);
}

TEST(postgres_shedlock, line_that_is_cut_leaves_no_lock_along_the_replies)
{
    cut_along(&database_postgres_shedlock, LAB_DOWN, 20, 1);
}

TEST(postgres_shedlock, line_that_is_cut_and_mended_keeps_a_holder)
{
    cut_keeps_a_holder(&database_postgres_shedlock);
}

/* ---- the URL ------------------------------------------------------------ */

TEST(postgres_shedlock, urls_that_contradict_themselves_are_invalid)
{
    url_is_bad("postgres://u@127.0.0.1:1/a?layout=java", "is not shedlock");
    url_is_bad("postgres://u@127.0.0.1:1/a?layout=shedlock&session=on",
               "has no table");
    url_is_bad("postgres://u@127.0.0.1:1/a?layout=shedlock&member=ok",
               "no member of a quorum");
}

static void statement_see(const char *statement, void *user)
{
    CHECK(!strncmp(statement, "CREATE TABLE IF NOT EXISTS shedlock ", 36));
    ++*(int *)user;
}

TEST(postgres_shedlock, statement_of_its_table_is_told)
{
    struct hf_error err = {0};
    int count = 0;
    CHECK_INT(hf_schema_text("postgres://u@127.0.0.1:1/a?layout=shedlock",
                             statement_see, &count, &err),
              HF_OK);
    CHECK_INT(count, 1);
    CHECK_INT(hf_schema_text("postgres://u@127.0.0.1:1/a?layout=java",
                             statement_see, &count, &err),
              HF_INVALID);
    CHECK(strstr(err.text, "has no layout \"java\"") != NULL);
    CHECK_INT(count, 1);
}

/* ---- the table ---------------------------------------------------------- */

#define NAME "name varchar(64) NOT NULL PRIMARY KEY"
#define UNTIL ", lock_until timestamp NOT NULL"
#define AT ", locked_at timestamp NOT NULL"
#define BY ", locked_by varchar(255) NOT NULL"

TEST(postgres_shedlock, table_that_cannot_be_shared_is_refused)
{
    const char *url = shed_server(D);
    shed_table_is_refused(D, url, NULL, HF_INVALID,
                          "shedlock is missing: run: holdfast install-schema");
    shed_table_is_refused(D, url, NAME AT BY, HF_CONFLICT, "lacks one of the");
    shed_table_is_refused(D, url,
                          NAME ", lock_until timestamptz NOT NULL" AT BY,
                          HF_CONFLICT, "without time zone");
    shed_table_is_refused(D, url,
                          NAME ", lock_until timestamp(0) NOT NULL" AT BY,
                          HF_CONFLICT, "of milliseconds or finer");
    shed_table_is_refused(D, url, "name varchar(64) NOT NULL" UNTIL AT BY,
                          HF_CONFLICT, "its primary key");
    shed_table_is_refused(D, url,
                          NAME UNTIL AT ", locked_by varchar(64) NOT NULL",
                          HF_CONFLICT, "room for 255 characters");
    CHECK_STR(D->say("DROP TABLE shedlock;"
                     "CREATE TABLE shedlock (" NAME UNTIL AT BY ")"),
              "");
    CHECK_INT(rig_probe(rig_lock(rig_client_at(url, NULL), "a")), HF_OK);
}

/* No end of it is known: so it is held, as ShedLock takes it. */
TEST(postgres_shedlock, row_without_an_end_is_held)
{
    rig_begin_on("postgres-shedlock");
    CHECK_STR(D->ask("INSERT INTO shedlock VALUES"
                     " ('a', 'infinity', '-infinity', 'by hand')"),
              "");
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, RIG_TRY, NULL), HF_TAKEN);
    CHECK_INT(hf_lock_break(l, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(l), HF_OK);
}
