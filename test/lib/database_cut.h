/*
 * database_cut.h: what is claimed of every database server whose line is cut.
 */
#ifndef HF_TEST_DATABASE_CUT_H
#define HF_TEST_DATABASE_CUT_H

#include "lab/proxy.h"
#include "lib/database.h"

/* Cut at about `cuts_wanted` places of one exchange, that of an acquire and a
 * release on a connection that is made anew (`connected` 0) or not. */
void cut_along(const struct database *db, enum lab_way way, long cuts_wanted,
               int connected);

void cut_keeps_a_holder(const struct database *db);
void cut_keeps_a_waiter(const struct database *db);
void cut_late_copy_takes_nothing(const struct database *db);

#endif
