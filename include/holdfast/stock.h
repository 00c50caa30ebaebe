/*
 * holdfast/stock.h: a sale with a limited quantity, which is never oversold.
 *
 *     struct hf_stock_spec spec = HF_STOCK_SPEC_INIT;
 *     spec.quantity = 100;
 *     spec.limit = 1;
 *     hf_stock_create(client, "phone", &spec, &err);
 *
 *     hf_stock *stock;
 *     struct hf_reservation got = HF_RESERVATION_INIT;
 *     if (hf_stock_open(client, "phone", &stock, &err) == HF_OK) {
 *         if (hf_stock_reserve(stock, "alice", 1, "order-17", &got, &err)
 *                 == HF_OK && got.verdict == HF_STOCK_RESERVED)
 *             hf_stock_confirm(stock, got.token, NULL, &err);
 *         hf_stock_close(stock);
 *     }
 *
 * A reservation takes units out of what is available, for the hold time of the
 * sale.  The buyer pays, and the caller confirms it: the units are sold.  The
 * caller may cancel it instead.  If neither happens the units become available
 * again by themselves, when the next request after the hold time reaches their
 * segment.
 *
 * A request id makes a reservation safe to repeat: after HF_UNAVAILABLE call
 * again with the same id, and nothing is reserved twice.
 *
 * The units of a sale may be in several segments.  The id of a user says which
 * segment is the user's, for good; a segment with too few units is given some
 * of another segment's by the client that asks.  Each segment keeps books that
 * balance at every moment: quantity + received - given = available + held +
 * sold (struct hf_stock_report).
 *
 * A verdict is not an error: "sold out" comes with HF_OK.
 */
#ifndef HOLDFAST_STOCK_H
#define HOLDFAST_STOCK_H

#include "client.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HF_STOCK_NAME_MAX 200 /* bytes in the name of a sale */
#define HF_STOCK_USER_MAX 256 /* bytes in the id of a user */
#define HF_STOCK_ID_MAX 128   /* bytes in a request id */
#define HF_STOCK_SEGMENTS_MAX 64
#define HF_STOCK_UNITS_MAX INT64_C(1000000000)
#define HF_STOCK_HOLD_MS_MAX INT64_C(2678400000) /* 31 days */
#define HF_STOCK_TOKEN_MAX 832 /* bytes in a token, with the NUL */
/* Reservations of one user that a sale without a limit keeps, sold ones
 * included; one more is answered HF_STOCK_LIMIT. */
#define HF_STOCK_RECORDS_MAX 256

typedef struct hf_stock hf_stock; /* a sale, as one client sees it */

/* The answer to a reservation. */
enum hf_stock_verdict {
    HF_STOCK_RESERVED = 0,  /* the units are held for the user */
    HF_STOCK_DUPLICATE = 1, /* this request id was answered before: the same
                             * token, and the state that it has now */
    HF_STOCK_REUSED = 2,    /* the request id was used for another number of
                             * units; nothing was changed */
    HF_STOCK_LIMIT = 3,     /* the user would have more than the limit */
    HF_STOCK_SOLD_OUT = 4,  /* fewer units are available */
    HF_STOCK_NOT_OPEN = 5,  /* before its start, after its end, or ended */
    HF_STOCK_BUSY = 6       /* units are on their way to the user's segment:
                             * ask again after left_ms */
};

/* What has become of a reservation. */
enum hf_stock_state {
    HF_STOCK_UNKNOWN = 0, /* no such reservation */
    HF_STOCK_HELD = 1,
    HF_STOCK_SOLD = 2,
    HF_STOCK_CANCELLED = 3, /* given back by the caller */
    HF_STOCK_EXPIRED = 4    /* given back because the hold time was over */
};

/* The terms of a sale. */
struct hf_stock_spec {
    uint32_t struct_size; /* set by HF_STOCK_SPEC_INIT */
    uint32_t segments;    /* 1 to HF_STOCK_SEGMENTS_MAX */
    int64_t quantity;     /* 1 to HF_STOCK_UNITS_MAX */
    int64_t limit;        /* units of one user; 0: no limit */
    int64_t hold_ms;      /* how long units are held unpaid; 0: ten minutes */
    int64_t max_hold_ms;  /* ... with all extensions; 0: twice hold_ms */
    int64_t opens_ms;     /* start, on the store's wall clock in ms since 1970;
                           * 0: at once */
    int64_t closes_ms;    /* end; 0: none */
};
#define HF_STOCK_SPEC_INIT                                                     \
    {                                                                          \
        sizeof(struct hf_stock_spec), 1, 0, 0, 0, 0, 0, 0                      \
    }
static inline void hf_stock_spec_init(struct hf_stock_spec *spec)
{
    const struct hf_stock_spec init = HF_STOCK_SPEC_INIT;
    *spec = init;
}

/* The answer to a reservation. */
struct hf_reservation {
    uint32_t struct_size; /* set by HF_RESERVATION_INIT */
    int32_t verdict;      /* enum hf_stock_verdict */
    int32_t state;        /* enum hf_stock_state */
    int32_t segment;      /* the user's segment */
    int64_t units;        /* RESERVED, DUPLICATE: of the reservation */
    int64_t order;        /* ... its number in the books of its segment */
    int64_t left_ms;      /* HELD: until the units are given back.  NOT_OPEN:
                           * until the start, -1 if it is over.  BUSY: until a
                           * new try is useful */
    char token[HF_STOCK_TOKEN_MAX]; /* RESERVED, DUPLICATE: for confirm, cancel
                                     * and extend; else "" */
};
#define HF_RESERVATION_INIT                                                    \
    {                                                                          \
        sizeof(struct hf_reservation), 0, 0, 0, 0, 0, 0,                       \
        {                                                                      \
            0                                                                  \
        }                                                                      \
    }
static inline void hf_reservation_init(struct hf_reservation *r)
{
    const struct hf_reservation init = HF_RESERVATION_INIT;
    *r = init;
}

/* What a reservation has become. */
struct hf_stock_settled {
    uint32_t struct_size; /* set by HF_STOCK_SETTLED_INIT */
    int32_t state;        /* enum hf_stock_state, after the call */
    int32_t changed;      /* 1 if this call has set the state; 0 if it was set
                           * before, or if the call had to repeat its request
                           * because an answer was lost */
    int32_t late;         /* 1 if it had expired and was taken again */
    int64_t units;
    int64_t left_ms; /* HELD: until the units are given back */
};
#define HF_STOCK_SETTLED_INIT                                                  \
    {                                                                          \
        sizeof(struct hf_stock_settled), 0, 0, 0, 0, 0                         \
    }
static inline void hf_stock_settled_init(struct hf_stock_settled *s)
{
    const struct hf_stock_settled init = HF_STOCK_SETTLED_INIT;
    *s = init;
}

/* The books of one segment, or of a whole sale. */
struct hf_stock_report {
    uint32_t struct_size; /* set by HF_STOCK_REPORT_INIT */
    uint32_t segments;    /* of the sale */
    int32_t is_ended;     /* hf_stock_end() was called */
    int32_t is_balanced;  /* every segment's books balance, no more units were
                           * received than given, and what is on its way is
                           * put aside: none is there twice, and none is lost */
    int64_t quantity;     /* units it was made with, and restocked */
    int64_t received;     /* from other segments */
    int64_t given;        /* to other segments */
    int64_t available;
    int64_t held;
    int64_t sold;
    int64_t events; /* changes so far */
    int64_t limit, hold_ms, max_hold_ms, opens_ms, closes_ms; /* its terms */
};
#define HF_STOCK_REPORT_INIT                                                   \
    {                                                                          \
        sizeof(struct hf_stock_report), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
            0, 0                                                               \
    }
static inline void hf_stock_report_init(struct hf_stock_report *r)
{
    const struct hf_stock_report init = HF_STOCK_REPORT_INIT;
    *r = init;
}

/**
 * Make a sale.
 *
 * @param client  borrowed; needs HF_CAP_STOCK
 * @param name    1 to HF_STOCK_NAME_MAX bytes, copied
 * @param spec    copied
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK           the sale exists, with these terms; also if it existed
 *                         before
 *         HF_CONFLICT     a sale of this name has other terms; nothing was
 *                         changed
 *         HF_INVALID      the name or a field of the spec is out of range
 *         HF_UNAVAILABLE  no answer; the sale may exist in part: call again
 *                         with the same terms
 *         HF_DENIED       the store refuses the request
 *         HF_UNSUPPORTED  the store has no HF_CAP_STOCK
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * A sale stays in the store until its keys are deleted
 * (docs/redis-layout.md).
 *
 * Threads: any.
 */
HF_API int hf_stock_create(hf_client *client, const char *name,
                           const struct hf_stock_spec *spec,
                           struct hf_error *err);

/**
 * Open a sale: read its terms, and make an object for it.
 *
 * @param client  borrowed; must outlive the object; needs HF_CAP_STOCK
 * @param name    as for hf_stock_create()
 * @param out     the object, owned by the caller: hf_stock_close()
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK           `out` is set
 *         HF_EMPTY        there is no such sale
 *         others          as for hf_stock_create()
 *
 * Threads: any.
 */
HF_API int hf_stock_open(hf_client *client, const char *name, hf_stock **out,
                         struct hf_error *err);

/**
 * Free the object.  The sale stays.  No call on it may be under way.
 *
 * @param stock  taken; NULL is ignored
 *
 * Threads: any.
 */
HF_API void hf_stock_close(hf_stock *stock);

/**
 * Reserve units for a user.
 *
 * @param stock       borrowed
 * @param user        1 to HF_STOCK_USER_MAX bytes
 * @param units       1 to HF_STOCK_UNITS_MAX
 * @param request_id  1 to HF_STOCK_ID_MAX bytes, chosen by the caller: the same
 *                    for each repetition of this reservation, and for no other
 *                    of this user
 * @param out         HF_RESERVATION_INIT; filled on HF_OK
 * @param err         filled when this fails; may be NULL
 *
 * @return HF_OK           `out` is filled: look at its verdict
 *         HF_INVALID      an argument is out of range; nothing was sent
 *         HF_EMPTY        the sale does not exist, or not all of it: a create
 *                         was interrupted; call hf_stock_create() again
 *         HF_CONFLICT     the sale was made anew with other segments: open it
 *                         again
 *         HF_UNAVAILABLE  no answer; the units may be reserved: call again with
 *                         the same request id
 *         others          as for hf_stock_create()
 *
 * One round trip; some more if the units must be fetched from other segments.
 * Calls that are made while another is under way share its connection, and
 * those started in one turn of a loop share one write.
 *
 * Threads: any.
 */
HF_API int hf_stock_reserve(hf_stock *stock, const char *user, int64_t units,
                            const char *request_id, struct hf_reservation *out,
                            struct hf_error *err);

/* Receives the result of hf_stock_reserve_start().  `got` is borrowed, and NULL
 * unless `status` is HF_OK; `err` is borrowed. */
typedef void (*hf_stock_reserved_fn)(hf_stock *stock, int status,
                                     const struct hf_reservation *got,
                                     const struct hf_error *err, void *user);

/**
 * Reserve units, asynchronously.
 *
 * @param stock       borrowed until `cb` is called
 * @param user        as for hf_stock_reserve(), copied
 * @param units       as for hf_stock_reserve()
 * @param request_id  as for hf_stock_reserve(), copied
 * @param cb          called exactly once if, and only if, this returns HF_OK,
 *                    and never from inside this function; its status is one
 *                    that hf_stock_reserve() returns; may be NULL
 * @param data        passed to `cb` unchanged
 * @param err         filled when this fails; may be NULL
 *
 * @return HF_OK           the request has been started
 *         HF_INVALID      an argument is out of range
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_stock_reserve_start(hf_stock *stock, const char *user,
                                  int64_t units, const char *request_id,
                                  hf_stock_reserved_fn cb, void *data,
                                  struct hf_error *err);

/**
 * Confirm a reservation: its units are sold.
 *
 * @param stock  borrowed
 * @param token  of the reservation
 * @param out    HF_STOCK_SETTLED_INIT; filled on HF_OK and HF_EXPIRED; may be
 *               NULL
 * @param err    filled when this fails; may be NULL
 *
 * @return HF_OK           it is sold; `out` says whether by this call
 *         HF_EXPIRED      the units were given back, because the hold time was
 *                         over or by a cancel: refund the buyer.  `out` is
 *                         filled.  No later confirm will sell them
 *         HF_EMPTY        the store knows no such reservation, or no such sale:
 *                         the token is forged or cut, the reservation ended
 *                         long ago, or the store has lost it
 *         HF_INVALID      the token is malformed
 *         HF_UNAVAILABLE  no answer; call again
 *         others          as for hf_stock_reserve()
 *
 * A confirm that comes after the hold time takes the units again if they are
 * still available, the sale is open, and the user's limit allows it.
 *
 * Threads: any.
 */
HF_API int hf_stock_confirm(hf_stock *stock, const char *token,
                            struct hf_stock_settled *out, struct hf_error *err);

/**
 * Cancel a reservation: its units are available again.
 *
 * @param stock  borrowed
 * @param token  of the reservation
 * @param out    HF_STOCK_SETTLED_INIT; filled on HF_OK and HF_NOT_OWNER; may be
 *               NULL
 * @param err    filled when this fails; may be NULL
 *
 * @return HF_OK           the user does not have the units, or no longer
 *         HF_NOT_OWNER    it is sold: nothing was changed
 *         others          as for hf_stock_confirm()
 *
 * Threads: any.
 */
HF_API int hf_stock_cancel(hf_stock *stock, const char *token,
                           struct hf_stock_settled *out, struct hf_error *err);

/**
 * Extend a reservation, as when the buyer begins to pay.
 *
 * @param stock  borrowed
 * @param token  of the reservation
 * @param ms     time from now; cut at max_hold_ms after the reservation; an
 *               earlier end than before is ignored
 * @param out    HF_STOCK_SETTLED_INIT; filled on HF_OK and HF_EXPIRED; may be
 *               NULL
 * @param err    filled when this fails; may be NULL
 *
 * @return HF_OK           held for left_ms of `out`, or sold already
 *         others          as for hf_stock_confirm()
 *
 * Threads: any.
 */
HF_API int hf_stock_extend(hf_stock *stock, const char *token, int64_t ms,
                           struct hf_stock_settled *out, struct hf_error *err);

/* What hf_stock_settle_start() does. */
enum hf_stock_settle {
    HF_STOCK_CONFIRM = 0,
    HF_STOCK_CANCEL = 1,
    HF_STOCK_EXTEND = 2
};

/* Receives the result of hf_stock_settle_start().  `settled` is borrowed, and
 * NULL if the store did not answer; `err` is borrowed. */
typedef void (*hf_stock_settled_fn)(hf_stock *stock, int status,
                                    const struct hf_stock_settled *settled,
                                    const struct hf_error *err, void *user);

/**
 * Confirm, cancel or extend a reservation, asynchronously.
 *
 * @param stock  borrowed until `cb` is called
 * @param what   enum hf_stock_settle
 * @param token  of the reservation, copied
 * @param ms     EXTEND: as for hf_stock_extend(); else ignored
 * @param cb     called exactly once if, and only if, this returns HF_OK, and
 *               never from inside this function; its status is one that the
 *               blocking call returns; may be NULL
 * @param data   passed to `cb` unchanged
 * @param err    filled when this fails; may be NULL
 *
 * @return HF_OK           the request has been started
 *         others          as for hf_stock_reserve_start()
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_stock_settle_start(hf_stock *stock, int what, const char *token,
                                 int64_t ms, hf_stock_settled_fn cb, void *data,
                                 struct hf_error *err);

/**
 * Add units to a sale.
 *
 * @param stock       borrowed
 * @param units       1 to HF_STOCK_UNITS_MAX
 * @param request_id  as for hf_stock_reserve(): the same for each repetition
 * @param err         filled when this fails; may be NULL
 *
 * @return HF_OK           added, by this call or by an earlier one of this id
 *         HF_CONFLICT     the id was used for another number of units
 *         HF_EXPIRED      the sale was ended; nothing was added
 *         others          as for hf_stock_reserve()
 *
 * Threads: any.
 */
HF_API int hf_stock_restock(hf_stock *stock, int64_t units,
                            const char *request_id, struct hf_error *err);

/**
 * End a sale: nothing more is reserved.  What is held can still be confirmed,
 * cancelled or extended.
 *
 * @param stock   borrowed
 * @param report  HF_STOCK_REPORT_INIT; filled on HF_OK: `held` says how many
 *                units are still reserved; may be NULL
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK           ended, by this call or before
 *         others          as for hf_stock_reserve()
 *
 * Threads: any.
 */
HF_API int hf_stock_end(hf_stock *stock, struct hf_stock_report *report,
                        struct hf_error *err);

/* Receives the books of each segment in turn; `books` is borrowed. */
typedef void (*hf_stock_books_fn)(uint32_t segment,
                                  const struct hf_stock_report *books,
                                  void *user);

/**
 * Add up the books of a sale; also while it sells.
 *
 * @param stock   borrowed
 * @param fn      called with each segment on this thread; may be NULL
 * @param user    passed to `fn` unchanged
 * @param report  HF_STOCK_REPORT_INIT; filled on HF_OK with the sums;
 *                given - received is what is on its way
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK           `report` is filled: look at is_balanced
 *         others          as for hf_stock_reserve()
 *
 * Each segment's books are read in one step; they are read once more if units
 * have moved between the steps.
 *
 * Threads: any.
 */
HF_API int hf_stock_audit(hf_stock *stock, hf_stock_books_fn fn, void *user,
                          struct hf_stock_report *report, struct hf_error *err);

#ifdef __cplusplus
}
#endif
#endif
