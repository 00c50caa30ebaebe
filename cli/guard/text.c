/*
 * guard/text.c: SQL and Lua for resources that check the token themselves.
 */
#include "common/say.h"
#include "guard/guard.h"

#include <stdio.h>
#include <string.h>

/* The place of `word` in a list of words with bars between, from 1; or 0. */
static int word_place(const char *list, const char *word)
{
    size_t len = strlen(word);
    for (int i = 1; *list; i++) {
        size_t n = strcspn(list, "|");
        if (n == len && memcmp(list, word, n) == 0) return i;
        list += n + (list[n] == '|');
    }
    return 0;
}

int guard_sql(const struct guard_call *g)
{
    static const char dialects[] = "postgres|mariadb|sqlite";
    static const char statements[] = "create|check|token|claim|still|verify";
    int dialect = word_place(dialects, g->words[0]);
    int statement = word_place(statements, g->words[1]);
    char what[160];
    if (dialect && statement) {
        printf("%s;\n", hf_guard_sql(dialect, statement));
        return stdout_end();
    }
    snprintf(what, sizeof(what), "sql: the %s must be one of %s",
             dialect ? "statement" : "dialect",
             dialect ? statements : dialects);
    return command_usage(g->self, what);
}

int guard_lua(const struct guard_call *g)
{
    (void)g;
    fputs(hf_guard_lua(), stdout);
    return stdout_end();
}
