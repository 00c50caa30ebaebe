/*
 * stock/show.c: what the store answered, for people or as JSON.
 *
 * The rule: standard output has only what a script needs, such as a token; a
 * reason why there is none goes to stderr.
 */
#include "common/exit.h"
#include "common/json.h"
#include "common/say.h"
#include "stock/stock.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const verdicts[] = {
    [HF_STOCK_RESERVED] = "reserved", [HF_STOCK_DUPLICATE] = "duplicate",
    [HF_STOCK_REUSED] = "reused",     [HF_STOCK_LIMIT] = "limit",
    [HF_STOCK_SOLD_OUT] = "sold_out", [HF_STOCK_NOT_OPEN] = "not_open",
    [HF_STOCK_BUSY] = "busy"};
static const char *const states[] = {[HF_STOCK_UNKNOWN] = "unknown",
                                     [HF_STOCK_HELD] = "held",
                                     [HF_STOCK_SOLD] = "sold",
                                     [HF_STOCK_CANCELLED] = "cancelled",
                                     [HF_STOCK_EXPIRED] = "expired"};
static const char *const whys[] = {
    [HF_STOCK_REUSED] = "the request id was used for another number of units",
    [HF_STOCK_LIMIT] = "the user would have more than the limit",
    [HF_STOCK_SOLD_OUT] = "sold out",
    [HF_STOCK_NOT_OPEN] = "the sale is not open",
    [HF_STOCK_BUSY] = "units are on their way: try again"};

int stock_fail(const struct stock_call *c, int status,
               const struct hf_error *err)
{
    if (status != HF_EMPTY) return session_fail(c->s, status, err);
    session_warn(c->s, "", err->text);
    return EXIT_LOST;
}

static int line_end(struct json *j)
{
    json_end(j);
    fputs(j->buf, stdout);
    return stdout_end();
}

/* ---- reservations ---- */

static int verdict_exit(const struct hf_reservation *got)
{
    int is_over =
        got->state == HF_STOCK_CANCELLED || got->state == HF_STOCK_EXPIRED;
    if (got->verdict == HF_STOCK_REUSED) return EXIT_CONFIG;
    if (got->verdict > HF_STOCK_REUSED) return EXIT_NOT_ACQUIRED;
    return is_over ? EXIT_LOST : EXIT_OK;
}

static void reservation_json(const struct stock_call *c,
                             const struct hf_reservation *got, struct json *j)
{
    json_begin(j);
    json_text(j, "sale", c->words[1]);
    json_text(j, "user", c->words[2]);
    json_text(j, "verdict", verdicts[got->verdict]);
    if (got->token[0]) {
        json_text(j, "state", states[got->state]);
        json_int(j, "units", got->units);
        json_int(j, "order", got->order);
        json_text(j, "token", got->token);
    }
    json_int(j, "segment", got->segment);
    json_int(j, "left_ms", got->left_ms);
}

int stock_show_reservation(const struct stock_call *c,
                           const struct hf_reservation *got)
{
    struct json j;
    int code = verdict_exit(got), end = 0;
    if (c->o->json) {
        reservation_json(c, got, &j);
        end = line_end(&j);
    } else if (code == EXIT_OK) {
        printf("%s\n", got->token);
        end = stdout_end();
    } else {
        session_warn(c->s, "",
                     got->token[0] ? states[got->state] : whys[got->verdict]);
    }
    return end ? end : code;
}

int stock_show_settled(const struct stock_call *c,
                       const struct hf_stock_settled *settled)
{
    struct json j;
    if (!c->o->json) {
        if (!c->o->quiet) printf("%s\n", states[settled->state]);
        return stdout_end();
    }
    json_begin(&j);
    json_text(&j, "sale", c->words[1]);
    json_text(&j, "state", states[settled->state]);
    json_bool(&j, "changed", settled->changed);
    json_bool(&j, "late", settled->late);
    json_int(&j, "units", settled->units);
    json_int(&j, "left_ms", settled->left_ms);
    return line_end(&j);
}

/* ---- books ---- */

static void books_json(const struct hf_stock_report *r, struct json *j)
{
    json_bool(j, "balanced", r->is_balanced);
    json_int(j, "quantity", r->quantity);
    json_int(j, "received", r->received);
    json_int(j, "given", r->given);
    json_int(j, "available", r->available);
    json_int(j, "held", r->held);
    json_int(j, "sold", r->sold);
    json_int(j, "events", r->events);
}

static void books_line(const char *title, const struct hf_stock_report *r)
{
    printf("%-8s %10" PRId64 " %9" PRId64 " %9" PRId64 " %10" PRId64
           " %10" PRId64 " %10" PRId64 " %9" PRId64 "  %s\n",
           title, r->quantity, r->received, r->given, r->available, r->held,
           r->sold, r->events, r->is_balanced ? "ok" : "WRONG");
}

void stock_show_segment(uint32_t segment, const struct hf_stock_report *r,
                        void *call)
{
    const struct stock_call *c = call;
    char title[16];
    struct json j;
    if (c->o->quiet) return;
    if (c->o->json) {
        json_begin(&j);
        json_text(&j, "sale", c->words[1]);
        json_int(&j, "segment", segment);
        books_json(r, &j);
        json_end(&j);
        fputs(j.buf, stdout);
        return;
    }
    if (segment == 0)
        printf("%-8s %10s %9s %9s %10s %10s %10s %9s\n", "SEGMENT", "QUANTITY",
               "RECEIVED", "GIVEN", "AVAILABLE", "HELD", "SOLD", "EVENTS");
    snprintf(title, sizeof title, "%u", segment);
    books_line(title, r);
}

/* Which of the ways to be wrong is it? */
static void wrong_say(const char *sale, const struct hf_stock_report *r)
{
    int64_t moving = r->given - r->received;
    if (r->quantity - moving != r->available + r->held + r->sold)
        say_warn("%s: the numbers of a segment do not add up: something other "
                 "than holdfast has changed its keys",
                 sale);
    else if (moving < 0)
        say_warn("%s: %" PRId64 " units were received that no segment gave: a "
                 "failover forgot it, and they are there twice",
                 sale, -moving);
    else
        say_warn("%s: %" PRId64 " units were given and not received, and fewer "
                 "are put aside: a failover lost the others",
                 sale, moving);
}

int stock_show_books(const struct stock_call *c,
                     const struct hf_stock_report *r)
{
    struct json j;
    int code = r->is_balanced ? EXIT_OK : EXIT_VIOLATED, end = 0;
    if (c->o->json) {
        json_begin(&j);
        json_text(&j, "sale", c->words[1]);
        json_int(&j, "segments", r->segments);
        json_bool(&j, "ended", r->is_ended);
        json_int(&j, "moving", r->given - r->received);
        books_json(r, &j);
        end = line_end(&j);
    } else if (!c->o->quiet) {
        books_line("total", r);
        end = stdout_end();
    }
    if (!r->is_balanced) wrong_say(c->words[1], r);
    return end ? end : code;
}

int stock_show_terms(const struct stock_call *c,
                     const struct hf_stock_report *r)
{
    struct json j;
    if (!c->o->json) {
        printf("segments %u\nlimit %" PRId64 "\nhold_ms %" PRId64
               "\nmax_hold_ms %" PRId64 "\nopens_ms %" PRId64
               "\ncloses_ms %" PRId64 "\nended %d\n",
               r->segments, r->limit, r->hold_ms, r->max_hold_ms, r->opens_ms,
               r->closes_ms, r->is_ended);
        return stdout_end();
    }
    json_begin(&j);
    json_text(&j, "sale", c->words[1]);
    json_int(&j, "segments", r->segments);
    json_int(&j, "limit", r->limit);
    json_int(&j, "hold_ms", r->hold_ms);
    json_int(&j, "max_hold_ms", r->max_hold_ms);
    json_int(&j, "opens_ms", r->opens_ms);
    json_int(&j, "closes_ms", r->closes_ms);
    json_bool(&j, "ended", r->is_ended);
    return line_end(&j);
}
