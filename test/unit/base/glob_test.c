/*
 * glob_test.c: patterns match as Redis's do.
 */
#include <string.h>

#include "base/glob.h"
#include "test.h"

static int matches(const char *pattern, const char *text)
{
    return hf__glob_match(pattern, text, strlen(text));
}

TEST(glob, plain_text_matches_itself_only)
{
    CHECK(matches("", ""));
    CHECK(matches("job", "job"));
    CHECK(!matches("job", "jobs"));
    CHECK(!matches("jobs", "job"));
    CHECK(!matches("", "a"));
}

TEST(glob, a_star_matches_any_bytes_slashes_and_dots_too)
{
    CHECK(matches("*", ""));
    CHECK(matches("*", ".a/b"));
    CHECK(matches("a*c", "abbbc"));
    CHECK(matches("a*b*c", "axxbyybzzc"));
    CHECK(matches("**a", "ba"));
    CHECK(!matches("a*c", "abcd"));
    CHECK(matches("*\xc3\xa9*", "caf\xc3\xa9s"));
}

TEST(glob, a_question_mark_matches_one_byte)
{
    CHECK(matches("a?c", "abc"));
    CHECK(!matches("a?c", "ac"));
    CHECK(!matches("?", ""));
}

TEST(glob, a_set_matches_one_of_its_bytes)
{
    CHECK(matches("[abc]", "b"));
    CHECK(!matches("[abc]", "d"));
    CHECK(matches("[a-cx]z", "bz"));
    CHECK(matches("[c-a]", "b"));
    CHECK(matches("[^a-c]", "d"));
    CHECK(!matches("[^a-c]", "b"));
    CHECK(matches("[\\]]", "]"));
    CHECK(matches("[a-]", "-"));
    CHECK(!matches("[]", "a"));
    CHECK(matches("[a", "a"));
}

TEST(glob, a_backslash_takes_the_next_byte_as_it_is)
{
    CHECK(matches("\\*", "*"));
    CHECK(!matches("\\*", "a"));
    CHECK(matches("a\\", "a\\"));
}

/* Going back to every star in turn would take longer than the universe. */
TEST(glob, many_stars_do_not_make_it_slow)
{
    char text[513];
    memset(text, 'a', 512);
    text[512] = '\0';
    CHECK(!matches("a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
}
