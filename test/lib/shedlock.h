/*
 * shedlock.h: the statements that ShedLock sends with usingDbTime(), played by
 * hand, and what is claimed of a table that holdfast shares with it.
 *
 * ShedLock itself is asked in test/interop/; here its statements can be sent at
 * any moment, also late.
 */
#ifndef HF_TEST_SHEDLOCK_H
#define HF_TEST_SHEDLOCK_H

#include "lib/database.h"

/* Claims: each begins a rig of its own, on the server that the program's tests
 * share. */
void shed_excludes_and_is_excluded(const struct database *d);
void shed_least_time_is_waited_for(const struct database *d);
void shed_end_frees_it_and_a_late_unlock_does_not(const struct database *d);
void shed_hold_moves_the_end_and_leaves_the_row(const struct database *d);
void shed_holder_is_shown_listed_and_broken(const struct database *d);
void shed_release_of_what_another_has_changes_nothing(const struct database *d);
void shed_texts_of_others_are_foreign(const struct database *d);
void shed_turns_are_counted_exactly(const struct database *d);
void shed_has_plain_locks_only(const struct database *d);
void shed_names_are_short_text(const struct database *d);

/* A server of one's own, ended with the test; its URL with layout=shedlock. */
const char *shed_server(const struct database *d);

/* That server's table is replaced by one of these columns (NULL: by none): the
 * URL is refused, and nothing is written. */
void shed_table_is_refused(const struct database *d, const char *url,
                           const char *columns, int status, const char *words);

/* A look at the row: "1|name" if it is held by `name` now, else "0|name". */
const char *shed_row(const struct database *d);

#endif
