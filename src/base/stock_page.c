/*
 * stock_page.c: the entries of a segment's event stream, as a page.
 *
 * The rule: an entry is taken whole, with texts of the escaped characters only,
 * or not at all.
 */
#include "base/stock_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Letters, digits and -_.~@:+%, which no database reads as anything else. */
static int is_plain(const char *text)
{
    size_t len = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "abcdefghijklmnopqrstuvwxyz0123456789-_.~@:+%");
    return len > 0 && !text[len];
}

static int number_read(const char *text, int64_t *out)
{
    char *end;
    if (text[0] < '0' || text[0] > '9') return -1;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (errno || *end) return -1;
    *out = number;
    return 0;
}

/* "<ms>-<number>" */
static int id_read(const char *id, int64_t *number)
{
    const char *dash = strchr(id, '-');
    if (!dash || strlen(id) > STOCK_ENTRY_ID_MAX - 1
        || strspn(id, "0123456789") != (size_t)(dash - id))
        return -1;
    return dash > id ? number_read(dash + 1, number) : -1;
}

/* The words of `text`, which ends up cut into them; the number of them. */
static int words_cut(char *text, char *words[5])
{
    int len = 0;
    char *rest = NULL;
    for (char *w = strtok_r(text, " ", &rest); w && len < 5;
         w = strtok_r(NULL, " ", &rest))
        words[len++] = w;
    return len;
}

static int event_read(char *id, char *text, struct stock_entry *e)
{
    char *words[5];
    if (id_read(id, &e->number) != 0 || words_cut(text, words) < 5) return -1;
    if (words[0][1] || !strchr("RSLKXF", words[0][0])) return -1;
    e->id = id;
    e->kind = words[0][0];
    e->user = words[1];
    e->request = words[3];
    return is_plain(words[1]) && is_plain(words[3])
                   && number_read(words[2], &e->order) == 0
                   && number_read(words[4], &e->units) == 0
               ? 0
               : -1;
}

int hf__entries_add(struct stock_page *p, const char *id, size_t id_len,
                    const char *text, size_t text_len)
{
    char *at = p->text + p->text_len;
    size_t need = id_len + text_len + 2;
    if (p->len == STOCK_PAGE_EVENTS || need > STOCK_PAGE_TEXT - p->text_len)
        return 0;
    memcpy(at, id, id_len);
    at[id_len] = '\0';
    memcpy(at + id_len + 1, text, text_len);
    at[id_len + 1 + text_len] = '\0';
    if (event_read(at, at + id_len + 1, &p->events[p->len]) != 0) return -1;
    p->len++;
    p->text_len += need;
    return 1;
}
