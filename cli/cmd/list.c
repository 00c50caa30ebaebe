/*
 * cmd/list.c: the locks of a store, as a table for people or a line of JSON
 * each for programs.  JSON is printed as it comes; the table is sorted, so it
 * is collected first.
 */
#include "command.h"
#include "common/duration.h"
#include "common/exit.h"
#include "common/say.h"
#include "option/rows.h"
#include "session/holder.h"
#include "session/nodes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum column {
    COLUMN_NAME,
    COLUMN_HOLDER,
    COLUMN_HELD,
    COLUMN_LEASE,
    COLUMN_FENCE,
    COLUMN_COUNT,
    COLUMN_WAITING,
    COLUMN_KIND,
    COLUMN_LABEL,
    COLUMNS
};

struct list_line {
    char *cells[COLUMNS];
};

struct list {
    struct list_line *lines;
    size_t len, cap;
    int as_json;
    int no_memory;
};

static const char *const titles[COLUMNS] = {"NAME",    "HOLDER", "HELD",
                                            "LEASE",   "FENCE",  "COUNT",
                                            "WAITING", "KIND",   "LABEL"};

typedef char cells_of_row[COLUMNS][TEXT_ESCAPED_MAX];

static void holder_write(const struct hf_info *i, char *out)
{
    char holder[4 * HF_OWNER_MAX];
    if (i->host[0] || i->owner[0])
        text_escape(i->host[0] ? i->host : i->owner, holder, sizeof(holder));
    else
        snprintf(holder, sizeof(holder), "%s", i->shared ? "readers" : "-");
    if (i->pid > 0)
        snprintf(out, TEXT_ESCAPED_MAX, "%s:%" PRId64, holder, i->pid);
    else
        snprintf(out, TEXT_ESCAPED_MAX, "%s", holder);
}

static void numbers_write(const struct hf_info *i, cells_of_row cells)
{
    if (i->since_ms > 0 && i->now_ms >= i->since_ms)
        duration_text(i->now_ms - i->since_ms, cells[COLUMN_HELD],
                      TEXT_ESCAPED_MAX);
    if (i->ttl_ms >= 0)
        duration_text(i->ttl_ms, cells[COLUMN_LEASE], TEXT_ESCAPED_MAX);
    if (i->fence)
        snprintf(cells[COLUMN_FENCE], TEXT_ESCAPED_MAX, "%" PRIu64, i->fence);
    if (i->owner_count > 0)
        snprintf(cells[COLUMN_COUNT], TEXT_ESCAPED_MAX, "%" PRId64,
                 i->owner_count);
    if (i->waiters >= 0)
        snprintf(cells[COLUMN_WAITING], TEXT_ESCAPED_MAX, "%" PRId64,
                 i->waiters);
}

static void cells_write(const struct hf_list_row *row, cells_of_row cells)
{
    const struct hf_info *i = row->info;
    char name[HF_NAME_MAX + 1];
    size_t len = row->name_len < HF_NAME_MAX ? row->name_len : HF_NAME_MAX;
    memcpy(name, row->name, len);
    name[len] = '\0';
    for (size_t c = 0; c < COLUMNS; c++)
        snprintf(cells[c], TEXT_ESCAPED_MAX, "-");
    text_escape(name, cells[COLUMN_NAME], TEXT_ESCAPED_MAX);
    holder_write(i, cells[COLUMN_HOLDER]);
    numbers_write(i, cells);
    if (i->layout[0])
        text_escape(i->layout, cells[COLUMN_KIND], TEXT_ESCAPED_MAX);
    if (i->label[0])
        text_escape(i->label, cells[COLUMN_LABEL], TEXT_ESCAPED_MAX);
}

/* A new line at the end, or NULL. */
static struct list_line *line_add(struct list *l)
{
    if (l->len == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 64;
        void *grown = realloc(l->lines, cap * sizeof(l->lines[0]));
        if (!grown) return NULL;
        l->lines = grown;
        l->cap = cap;
    }
    struct list_line *line = &l->lines[l->len++];
    memset(line, 0, sizeof(*line));
    return line;
}

static int row_collect(const struct hf_list_row *row, struct list *l)
{
    cells_of_row cells;
    struct list_line *line = line_add(l);
    if (!line) return -1;
    cells_write(row, cells);
    for (size_t c = 0; c < COLUMNS; c++) {
        line->cells[c] = strdup(cells[c]);
        if (!line->cells[c]) return -1;
    }
    return 0;
}

static int row_see(const struct hf_list_row *row, void *user)
{
    struct list *l = user;
    if (!l->as_json) {
        l->no_memory = row_collect(row, l) != 0;
        return l->no_memory;
    }
    struct json j;
    json_begin(&j);
    holder_json(&j, row->name, row->info);
    json_end(&j);
    return fputs(j.buf, stdout) < 0;
}

static int line_compare(const void *a, const void *b)
{
    const struct list_line *left = a, *right = b;
    return strcmp(left->cells[0], right->cells[0]);
}

static void line_print(const char *const *cells, const size_t *widths)
{
    for (size_t c = 0; c + 1 < COLUMNS; c++)
        printf("%-*s  ", (int)widths[c], cells[c]);
    printf("%s\n", cells[COLUMNS - 1]);
}

static void list_print(struct list *l)
{
    size_t widths[COLUMNS];
    if (l->len == 0) return;
    for (size_t c = 0; c < COLUMNS; c++) {
        widths[c] = strlen(titles[c]);
        for (size_t i = 0; i < l->len; i++) {
            size_t len = strlen(l->lines[i].cells[c]);
            if (len > widths[c]) widths[c] = len;
        }
    }
    qsort(l->lines, l->len, sizeof(l->lines[0]), line_compare);
    line_print(titles, widths);
    for (size_t i = 0; i < l->len; i++)
        line_print((const char *const *)l->lines[i].cells, widths);
}

static void list_free(struct list *l)
{
    for (size_t i = 0; i < l->len; i++) {
        for (size_t c = 0; c < COLUMNS; c++) free(l->lines[i].cells[c]);
    }
    free(l->lines);
}

/* Name the members of a quorum that were not asked: their locks may be missing.
 * EXIT_OK, or EXIT_UNREACHABLE if the others are not a majority. */
static int silence_say(const struct session *s)
{
    struct nodes ns;
    char why[NODE_WHY_MAX];
    nodes_look(s, &ns);
    for (int i = 0; i < ns.len; i++)
        if (!ns.at[i].up && node_why(&ns.at[i], why, sizeof(why)))
            say_warn("list: not asked: %s", why);
    if (ns.up >= ns.needed) return EXIT_OK;
    say_error("list: %d of %d nodes can be reached, %d are needed: locks may "
              "be missing",
              ns.up, ns.len, ns.needed);
    return EXIT_UNREACHABLE;
}

static int list_main(const struct command *self, int argc, char **argv)
{
    struct options o;
    struct session s;
    struct hf_error err = {0};
    struct list l = {0};
    int code = command_begin(self, argc, argv, &o, NULL, 0, 0);
    if (code >= 0) return code;
    code = session_open(&s, &o, NULL, HF_CLIENT_OWN_LOOP, NULL, NULL);
    if (code) return code;
    l.as_json = o.json;
    int status = hf_client_list(s.client, o.match, row_see, &l, &err);
    if (status == HF_OK && l.no_memory) {
        say_error("list: out of memory");
        code = EXIT_BUG;
    } else {
        /* Some nodes of a cluster failed: print what the others have. */
        list_print(&l);
        code = stdout_end();
        if (status != HF_OK)
            code = session_fail(&s, status, &err);
        else if (!code)
            code = silence_say(&s);
    }
    list_free(&l);
    session_close(&s);
    return code;
}

static const struct option_row list_options[] = {
    {"", "match", "GLOB", OPTION_TEXT, FIELD(match), 0, 0, 0,
     "only locks whose name matches GLOB (* ? [..])"},
    OPTION_ROW_URL,
    OPTION_ROW_JSON("print one JSON object per line"),
    OPTION_ROW_TALK,
};

static const char *const list_about[] = {
    "List the locks that are held: name, holder, how long it has been held, "
    "how much of its lease is left, fencing token, hold count, how many "
    "processes wait, its kind (see holdfast status) and label. What is not "
    "known is shown as -. The store is read in small steps: a lock that is "
    "acquired or released meanwhile may or may not be seen.",
    "Of a read/write lock one holder is shown. Free locks, semaphores, "
    "latches and barriers are not listed: ask for them by name (holdfast "
    "status, holdfast latch status).",
    "Of a quorum every node is asked, and a lock that one of them has is "
    "listed; holdfast status tells whether a majority has it. A node that "
    "does not answer is named; if a majority does not answer, what the "
    "others have is listed, and the exit status is 69. Of a cluster every "
    "master is asked: if one does not answer, it is named, what the others "
    "have is listed, and the exit status is 69.",
    "Locks of SET NX PX libraries look like any other string, and are "
    "listed only with format=string in the URL.",
    NULL};

static const struct term_row list_exits[] = {
    {"0", "listed, even if there is no lock"}, EXIT_ROWS_STORE, {NULL, NULL}};

static const char *const list_examples[] = {
    "holdfast list --match 'billing/*'",
    "holdfast list --json | jq -r 'select(.ttl_ms < 1000).lock'", NULL};

const struct command cmd_list = {
    .name = "list",
    .summary = "list the locks that are held",
    .usage = "[options]",
    .about = list_about,
    OPTIONS(list_options),
    .exits = list_exits,
    .examples = list_examples,
    .run = list_main,
};
