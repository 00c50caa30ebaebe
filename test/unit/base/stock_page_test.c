/*
 * stock_page_test.c: entries of a segment's stream.  One rule: what the scripts
 * did not write gets into no statement of a database.
 */
#include <string.h>

#include "base/stock_page.h"
#include "test.h"

static struct stock_page page;

static int add(const char *id, const char *text)
{
    return hf__entries_add(&page, id, strlen(id), text, strlen(text));
}

TEST(stock_page, takes_an_entry_as_the_scripts_write_it)
{
    page.len = page.text_len = 0;
    CHECK_INT(add("1700000000000-7", "S a%20b 5 r:1 3"), 1);
    CHECK_INT(page.len, 1);
    CHECK_INT(page.events[0].number, 7);
    CHECK_INT(page.events[0].kind, 'S');
    CHECK_INT(page.events[0].order, 5);
    CHECK_INT(page.events[0].units, 3);
    CHECK(!strcmp(page.events[0].user, "a%20b"));
    CHECK(!strcmp(page.events[0].request, "r:1"));
    CHECK(!strcmp(page.events[0].id, "1700000000000-7"));
}

TEST(stock_page, leaves_alone_what_a_later_version_adds)
{
    page.len = page.text_len = 0;
    CHECK_INT(add("1-1", "R ann 1 r 1 more words"), 1);
    CHECK_INT(page.events[0].units, 1);
}

TEST(stock_page, refuses_what_is_no_entry)
{
    static const char *const ids[] = {
        "",
        "1",
        "-1",
        "1-",
        "a-1",
        "1-1x",
        "1-1'",
        "1--1",
        "1-99999999999999999999",
        "111111111111111111111111111111111111111111111111-1"};
    static const char *const texts[] = {"",
                                        "R",
                                        "R ann 1 r",
                                        "Q ann 1 r 1",
                                        "RR ann 1 r 1",
                                        "R an'n 1 r 1",
                                        "R ann 1 r' 1",
                                        "R ann x r 1",
                                        "R ann 1 r -1",
                                        "R ann 1 r 1x",
                                        "R an\\n 1 r 1",
                                        "R \xc3\xa9 1 r 1"};
    page.len = page.text_len = 0;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        CHECK_INT(add(ids[i], "R ann 1 r 1"), -1);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        CHECK_INT(add("1-1", texts[i]), -1);
    CHECK_INT(page.len, 0);
}

TEST(stock_page, that_is_full_takes_no_more)
{
    page.len = page.text_len = 0;
    for (int i = 0; i < STOCK_PAGE_EVENTS; i++)
        CHECK_INT(add("1-1", "R ann 1 r 1"), 1);
    CHECK_INT(add("1-1", "R ann 1 r 1"), 0);
    page.len = 1;
    page.text_len = STOCK_PAGE_TEXT - 10;
    CHECK_INT(add("1-1", "R ann 1 r 1"), 0);
}
