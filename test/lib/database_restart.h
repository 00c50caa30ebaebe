/*
 * database_restart.h: what is claimed of every database server that goes away
 * and comes back.
 */
#ifndef HF_TEST_DATABASE_RESTART_H
#define HF_TEST_DATABASE_RESTART_H

#include "lib/database.h"

void restart_keeps_a_holder(const struct database *db, int in_order);
void restart_keeps_a_waiter(const struct database *db);
void restart_is_noticed_by_a_try(const struct database *db);
void restart_is_not_needed_after_a_pause(const struct database *db);
void restart_without_rows_is_told(const struct database *db);

#endif
