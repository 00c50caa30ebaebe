/*
 * rig_mysql.c: see rig_mysql.h.  One rule: the tables are made as users make
 * them.
 */
#include "lib/rig_mysql.h"

#include <stdio.h>

#include "lib/lab_check.h"
#include "lib/rig_postgres.h"
#include "test.h"

static struct lab_mariadb shared;

void rig_mysql_fresh(char *url, size_t size)
{
    if (shared.pid == 0) {
        LAB_CHECK(lab_mariadb_start(&shared, NULL));
        postgres_install(shared.url);
    }
    LAB_CHECK(lab_mariadb_do(&shared, "DELETE FROM holdfast.holdfast_lock;"
                                      "DELETE FROM holdfast.holdfast_meta"
                                      " WHERE `key` = 'boot'"));
    snprintf(url, size, "%s", shared.url);
}

struct lab_mariadb *rig_mysql_shared(void)
{
    return &shared;
}

static void mysql_end(void *arg)
{
    lab_mariadb_stop(arg);
}

void mysql_begin(struct lab_mariadb *p, const char *const *args)
{
    LAB_CHECK(lab_mariadb_start(p, args));
    test_cleanup(mysql_end, p);
    postgres_install(p->url);
}
