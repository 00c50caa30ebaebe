/*
 * cmd/stock.c: sales that are never oversold, for scripts.  A table of actions;
 * each does one call.
 */
#include "command.h"
#include "common/duration.h"
#include "common/exit.h"
#include "common/text.h"
#include "option/rows.h"
#include "session/gate.h"
#include "stock/stock.h"

#include <stdio.h>
#include <string.h>

static int stock_create(const struct stock_call *c)
{
    struct hf_stock_spec spec = HF_STOCK_SPEC_INIT;
    struct hf_error err = {0};
    spec.quantity = c->number;
    if (c->o->segments) spec.segments = (uint32_t)c->o->segments;
    spec.limit = c->o->limit;
    spec.hold_ms = c->o->hold_ms;
    spec.max_hold_ms = c->o->max_hold_ms;
    spec.opens_ms = c->o->opens * 1000;
    spec.closes_ms = c->o->closes * 1000;
    int status = hf_stock_create(c->s->client, c->words[1], &spec, &err);
    return status == HF_OK ? EXIT_OK : stock_fail(c, status, &err);
}

static int stock_reserve(const struct stock_call *c)
{
    struct hf_reservation got = HF_RESERVATION_INIT;
    struct hf_error err = {0};
    int status = hf_stock_reserve(c->stock, c->words[2], c->number, c->words[3],
                                  &got, &err);
    return status == HF_OK ? stock_show_reservation(c, &got)
                           : stock_fail(c, status, &err);
}

typedef int settle_fn(hf_stock *stock, const char *token,
                      struct hf_stock_settled *out, struct hf_error *err);

static int settle(const struct stock_call *c, settle_fn *fn)
{
    struct hf_stock_settled out = HF_STOCK_SETTLED_INIT;
    struct hf_error err = {0};
    int status = fn(c->stock, c->words[2], &out, &err);
    return status == HF_OK ? stock_show_settled(c, &out)
                           : stock_fail(c, status, &err);
}

static int stock_confirm(const struct stock_call *c)
{
    return settle(c, hf_stock_confirm);
}

static int stock_cancel(const struct stock_call *c)
{
    return settle(c, hf_stock_cancel);
}

static int stock_pin(const struct stock_call *c)
{
    struct hf_stock_settled out = HF_STOCK_SETTLED_INIT;
    struct hf_error err = {0};
    int status = hf_stock_extend(c->stock, c->words[2], c->number, &out, &err);
    return status == HF_OK ? stock_show_settled(c, &out)
                           : stock_fail(c, status, &err);
}

static int stock_restock(const struct stock_call *c)
{
    struct hf_error err = {0};
    int status = hf_stock_restock(c->stock, c->number, c->words[3], &err);
    return status == HF_OK ? EXIT_OK : stock_fail(c, status, &err);
}

static int stock_close(const struct stock_call *c)
{
    struct hf_stock_report r = HF_STOCK_REPORT_INIT;
    struct hf_error err = {0};
    int status = hf_stock_end(c->stock, &r, &err);
    return status == HF_OK ? stock_show_books(c, &r)
                           : stock_fail(c, status, &err);
}

static int stock_audit(const struct stock_call *c)
{
    struct hf_stock_report r = HF_STOCK_REPORT_INIT;
    struct hf_error err = {0};
    int status =
        hf_stock_audit(c->stock, stock_show_segment, (void *)c, &r, &err);
    if (status != HF_OK) return stock_fail(c, status, &err);
    int code = stock_show_books(c, &r);
    int other = stock_into(c) ? stock_compare(c) : EXIT_OK;
    return other ? other : code;
}

static int stock_terms(const struct stock_call *c)
{
    struct hf_stock_report r = HF_STOCK_REPORT_INIT;
    struct hf_error err = {0};
    int status = hf_stock_audit(c->stock, NULL, NULL, &r, &err);
    return status == HF_OK ? stock_show_terms(c, &r)
                           : stock_fail(c, status, &err);
}

#define ACTIONS                                                                \
    "create|open|reserve|confirm|cancel|pin|restock|close|audit|drain"

static const struct action {
    const char *name;
    int words_min, words_max; /* behind NAME */
    int number_at;            /* which of them is a number, from 1; 0: none */
    const char *wants;
    int (*run)(const struct stock_call *c);
} actions[] = {
    {"create", 1, 1, 1, "NAME and QUANTITY", stock_create},
    {"open", 0, 0, 0, "NAME", stock_terms},
    {"reserve", 2, 3, 3, "NAME, USER, REQUEST and perhaps UNITS",
     stock_reserve},
    {"confirm", 1, 1, 0, "NAME and TOKEN", stock_confirm},
    {"cancel", 1, 1, 0, "NAME and TOKEN", stock_cancel},
    {"pin", 2, 2, 2, "NAME, TOKEN and TIME", stock_pin},
    {"restock", 2, 2, 1, "NAME, UNITS and REQUEST", stock_restock},
    {"close", 0, 0, 0, "NAME", stock_close},
    {"audit", 0, 0, 0, "NAME", stock_audit},
    {"drain", 0, 0, 0, "NAME", stock_drain},
};

static const struct action *action_find(const char *name)
{
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
        if (strcmp(actions[i].name, name) == 0) return &actions[i];
    return NULL;
}

/* Read the number or the time among the words; a reservation without a number
 * is of one unit. */
static int number_take(const struct command *self, const struct action *a,
                       struct stock_call *c)
{
    char what[160], shown[64];
    const char *word = a->number_at ? c->words[1 + a->number_at] : NULL;
    c->number = 1;
    if (!word) return 0;
    if (a->run == stock_pin
            ? duration_parse(word, &c->number) == 0 && c->number >= 1
                  && c->number <= HF_STOCK_HOLD_MS_MAX
            : number_parse(word, 1, HF_STOCK_UNITS_MAX, &c->number) == 0)
        return 0;
    snprintf(what, sizeof(what), "%s: not a %s",
             text_escape(word, shown, sizeof(shown)),
             a->run == stock_pin ? "time of up to 31 days"
                                 : "number from 1 to 1000000000");
    return command_usage(self, what);
}

static int words_check(const struct command *self, const struct action *a,
                       struct stock_call *c)
{
    char what[160], shown[64];
    int behind = 0;
    while (2 + behind < STOCK_WORDS && c->words[2 + behind]) behind++;
    if (!a) {
        snprintf(what, sizeof(what), "%s: no such action",
                 text_escape(c->words[0], shown, sizeof(shown)));
        return command_usage(self, what);
    }
    if (behind < a->words_min || behind > a->words_max) {
        snprintf(what, sizeof(what), "%s takes %s", a->name, a->wants);
        return command_usage(self, what);
    }
    int has_terms = c->o->segments || c->o->limit || c->o->hold_ms
                    || c->o->max_hold_ms || c->o->opens || c->o->closes;
    if (has_terms && a->run != stock_create)
        return command_usage(self, "the terms of a sale are for create only");
    if ((c->o->drain_once || c->o->keep || c->o->install)
        && a->run != stock_drain)
        return command_usage(self, "--once, --keep and --install are for drain "
                                   "only");
    if (c->o->into && a->run != stock_drain && a->run != stock_audit)
        return command_usage(self, "--into is for drain and audit only");
    if (c->o->json && (a->run == stock_create || a->run == stock_restock))
        return command_usage(self, "--json is not for create and restock: they "
                                   "print nothing");
    return number_take(self, a, c);
}

/* The lock of a drain is renewed by the client's own thread. */
static int store_open(struct session *s, const struct options *o,
                      const char *name, const struct action *a)
{
    if (a->run != stock_drain) return gate_open(s, o, name);
    int code = session_open(s, o, NULL, 0, NULL, NULL);
    if (!code) text_escape(name, s->shown, sizeof(s->shown));
    return code;
}

static int stock_main(const struct command *self, int argc, char **argv)
{
    struct options o;
    struct session s;
    struct hf_error err = {0};
    const char *words[STOCK_WORDS];
    int code = command_begin(self, argc, argv, &o, words, 2, STOCK_WORDS);
    if (code >= 0) return code;
    struct stock_call c = {.s = &s, .o = &o, .words = words};
    const struct action *a = action_find(words[0]);
    code = words_check(self, a, &c);
    if (!code) code = store_open(&s, &o, words[1], a);
    if (code) return code;
    int status = a->run == stock_create
                     ? HF_OK
                     : hf_stock_open(s.client, words[1], &c.stock, &err);
    code = status == HF_OK ? a->run(&c) : stock_fail(&c, status, &err);
    session_close(&s);
    return code;
}

#define SECONDS_MAX INT64_C(281474976710) /* of a clock in ms, in 48 bits */

static const struct option_row stock_options[] = {
    {"", "segments", "N", OPTION_NUMBER, FIELD(segments), 0, 1,
     HF_STOCK_SEGMENTS_MAX,
     "create: keep the units in N segments, which a cluster may have on "
     "several servers; default: 1"},
    {"", "limit", "N", OPTION_NUMBER, FIELD(limit), 0, 1, HF_STOCK_UNITS_MAX,
     "create: a user may have N units; default: any number"},
    {"", "hold", "TIME", OPTION_DURATION, FIELD(hold_ms), 0, 1,
     HF_STOCK_HOLD_MS_MAX,
     "create: units that are not confirmed are given back after TIME; "
     "default: 10m"},
    {"", "max-hold", "TIME", OPTION_DURATION, FIELD(max_hold_ms), 0, 1,
     HF_STOCK_HOLD_MS_MAX,
     "create: pin holds units no longer than TIME; default: twice --hold"},
    {"", "opens", "SECONDS", OPTION_NUMBER, FIELD(opens), 0, 1, SECONDS_MAX,
     "create: the start of the sale, as date +%s prints it; default: at once"},
    {"", "closes", "SECONDS", OPTION_NUMBER, FIELD(closes), 0, 1, SECONDS_MAX,
     "create: the end of the sale, likewise; default: none"},
    {"", "into", "URL", OPTION_TEXT, FIELD(into), 0, 0, 0,
     "drain, audit: the database: sqlite:, postgres: or mariadb:; a URL with a "
     "password is better in HOLDFAST_INTO"},
    {"", "once", NULL, OPTION_FLAG, FIELD(drain_once), 1, 0, 0,
     "drain: end when all events that were there are in the database; without "
     "it, drain goes on until a signal comes"},
    {"", "install", NULL, OPTION_FLAG, FIELD(install), 1, 0, 0,
     "drain: make the tables first, unless they are there"},
    {"", "keep", NULL, OPTION_FLAG, FIELD(keep), 1, 0, 0,
     "drain: remove no events from the store"},
    OPTION_ROW_LEASE,
    OPTION_ROW_URL,
    OPTION_ROW_JSON("print JSON, one object per line"),
    OPTION_ROW_TALK,
};

static const char *const stock_about[] = {
    "A sale has a quantity that is never oversold. create NAME QUANTITY makes "
    "one; create again with the same terms changes nothing. open NAME prints "
    "its terms.",
    "reserve NAME USER REQUEST [UNITS] takes units for a user, one if UNITS is "
    "not given, and prints a token. REQUEST is an id that the caller chooses: "
    "with the same id nothing is reserved twice, and the same token is "
    "printed. confirm NAME TOKEN makes the units sold, cancel NAME TOKEN gives "
    "them back; each prints the state of the reservation. pin NAME TOKEN TIME "
    "holds them until TIME from now. Units that are neither confirmed nor "
    "cancelled are given back after the hold time, by the next request to "
    "their segment.",
    "restock NAME UNITS REQUEST adds units, once for each REQUEST. close NAME "
    "ends the sale, and prints the books: what is reserved can still be "
    "confirmed or cancelled. audit NAME prints the books of each segment, and "
    "exits with 1 if they do not balance; the sale may go on meanwhile.",
    "drain NAME moves the orders into a database, which --into names: one row "
    "for each order, however often a drain is killed. One drain works, and "
    "others wait for its lock, NAME#drain. Events that are in the database are "
    "removed from the store once their hold time is over. audit compares the "
    "two if a database is named.",
    "Redis (one server, Sentinel, cluster) keeps sales; other stores do not. "
    "docs/flash-sale.md tells more.",
    NULL};

static const struct term_row stock_exits[] = {
    {"0", "done; reserve: the user has the units, by this request or before"},
    {"1", "audit, close: the books do not balance; drain, audit --into: the "
          "database refused sales, or the store has lost some"},
    {"75", "reserve: sold out, over the limit, not open, or units on their "
           "way"},
    {"80", "no such sale or reservation; reserve, confirm, pin: the units were "
           "given back; cancel: they are sold; restock: the sale was closed"},
    EXIT_ROWS_STORE,
    {NULL, NULL}};

static const char *const stock_examples[] = {
    "export HOLDFAST_URL=redis://10.0.0.5",
    "holdfast stock create phone 100 --limit 1 --hold 15m",
    "token=$(holdfast stock reserve phone alice order-17)",
    "holdfast stock confirm phone \"$token\"",
    "holdfast stock audit phone",
    "holdfast stock drain phone --into sqlite:/var/lib/shop.db --install",
    NULL};

const struct command cmd_stock = {
    .name = "stock",
    .summary = "sell a limited quantity without overselling it",
    .usage = "[options] " ACTIONS " NAME [WORDS]",
    .actions = ACTIONS,
    .about = stock_about,
    OPTIONS(stock_options),
    .exits = stock_exits,
    .examples = stock_examples,
    .run = stock_main,
};
