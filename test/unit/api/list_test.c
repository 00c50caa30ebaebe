/*
 * list_test.c: a list that a store would never end, or that fails half-way.
 * One rule: the library ends it, with an error text, and what was listed before
 * counts.
 */
#include <stdlib.h>
#include <string.h>

#include "holdfast/holdfast.h"
#include "test.h"

static int row_count(const struct hf_list_row *row, void *user)
{
    (void)row;
    ++*(int *)user;
    return 0;
}

static void list_fails(const char *url, int status, const char *why)
{
    struct hf_error err = {0};
    hf_client *c;
    int rows = 0;
    CHECK_INT(setenv("HOLDFAST_MODULE_PATH", TEST_MODULE_DIR, 1), 0);
    CHECK_INT(hf_client_open(url, NULL, &c, &err), HF_OK);
    CHECK_INT(hf_client_list(c, NULL, row_count, &rows, &err), status);
    if (!strstr(err.text, why)) TEST_FAIL("%s", err.text);
    CHECK_INT(rows, 0);
    hf_client_close(c);
}

/* The module's cursor comes again after `round` pages; 0: never. */
static void list_ends(int round)
{
    char url[32];
    snprintf(url, sizeof url, "echo://%d", round);
    list_fails(url, HF_UNAVAILABLE, "cursor does not come to an end");
}

TEST(list, a_cursor_that_stands_still_is_ended)
{
    list_ends(1);
}

TEST(list, a_cursor_that_goes_in_a_circle_is_ended)
{
    for (int round = 2; round < 40; round++) list_ends(round);
    list_ends(1000);
}

TEST(list, a_cursor_that_rises_for_ever_is_ended)
{
    list_ends(0);
}

/* Its cursor is then the one that was asked with, and comes again. */
TEST(list, a_page_that_fails_is_told_as_it_failed)
{
    list_fails("echo://broken", HF_DENIED, "no second page");
}
