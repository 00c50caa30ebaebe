/*
 * holdfast/election.h: elect one of several candidates as the leader.
 *
 *     hf_election *election;
 *     hf_hold *hold;
 *     const char *address = "10.0.0.5:8080";
 *     struct hf_campaign_options options = HF_CAMPAIGN_OPTIONS_INIT;
 *     options.value = address;
 *     options.value_len = strlen(address);
 *     if (hf_election_open(client, "scheduler", NULL, &election, &err)
 *         == HF_OK) {
 *         if (hf_election_campaign(election, &options, &hold, &err) == HF_OK) {
 *             write_with_token(hf_hold_fence(hold));
 *             hf_election_resign(election, &err);
 *         }
 *         hf_election_close(election);
 *     }
 *
 * The leader holds the lock that has the election's name.  It is an ordinary
 * lock: it is renewed, has a fence, and can be inspected, waited for and
 * broken.  The leader may publish a value, such as its address; every client
 * can ask for the leader and its value.  A lock of this host alone
 * (HF_FALLBACK_LOCAL) is not a leadership, and is never used as one.
 *
 * An object is one candidate: each thread that campaigns needs its own object.
 */
#ifndef HOLDFAST_ELECTION_H
#define HOLDFAST_ELECTION_H

#include "lock.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hf_election hf_election;

#define HF_ELECTION_NAME_MAX 480    /* bytes in a name */
#define HF_ELECTION_VALUE_MAX 60000 /* bytes in a published value */

/* Receives a change of state of a leadership: AT_RISK before its lease can end,
 * LOST when it has ended, HELD when it is safe again.  `ev` is borrowed for the
 * call.  The function runs before the client's own on_state, under the same
 * rules; it may make any call but hf_election_close(). */
typedef void (*hf_election_fn)(hf_election *election, const struct hf_event *ev,
                               void *user);

/* How to open an election.  Zero is every field's default. */
struct hf_election_options {
    uint32_t struct_size; /* set by HF_ELECTION_OPTIONS_INIT */
    int32_t order;        /* HF_ORDER_ANY; HF_ORDER_FAIR: the candidate that has
                           * campaigned longest is next; needs HF_CAP_QUEUE */
    int64_t lease_ms;     /* time after which a leader that died without
                           * resigning is replaced; 0: the client's lease */
    int64_t renew_ms;     /* as in struct hf_acquire_options */
    hf_election_fn on_state; /* may be NULL */
    void *user;              /* passed to `on_state` */
};
#define HF_ELECTION_OPTIONS_INIT                                               \
    {                                                                          \
        sizeof(struct hf_election_options), 0, 0, 0, 0, 0                      \
    }
static inline void hf_election_options_init(struct hf_election_options *options)
{
    const struct hf_election_options init = HF_ELECTION_OPTIONS_INIT;
    *options = init;
}

#define HF_CAMPAIGN_TRY 1u /* try once: HF_TAKEN if there is a leader */

/* How to campaign.  Zero is every field's default. */
struct hf_campaign_options {
    uint32_t struct_size; /* set by HF_CAMPAIGN_OPTIONS_INIT */
    uint32_t flags;       /* HF_CAMPAIGN_TRY */
    int64_t wait_ms;      /* as in struct hf_acquire_options */
    hf_cancel *cancel;    /* borrowed until the call is over; may be NULL */
    const void *value;    /* copied; published when elected; NULL: nothing is
                           * published.  Needs HF_CAP_VALUE and HF_CAP_FENCE */
    size_t value_len;     /* bytes in `value`, at most HF_ELECTION_VALUE_MAX */
};
#define HF_CAMPAIGN_OPTIONS_INIT                                               \
    {                                                                          \
        sizeof(struct hf_campaign_options), 0, 0, 0, 0, 0                      \
    }
static inline void hf_campaign_options_init(struct hf_campaign_options *options)
{
    const struct hf_campaign_options init = HF_CAMPAIGN_OPTIONS_INIT;
    *options = init;
}

/* The leader of an election. */
struct hf_leader {
    /* Set by HF_LEADER_INIT. */
    uint32_t struct_size;
    int is_led;       /* 0 if there is no leader; then only now_ms and ttl_ms
                       * are set */
    int is_me;        /* 1 if this object's candidate is the leader */
    uint64_t fence;   /* fencing token of the leadership; 0 if it has none */
    int64_t since_ms; /* when it was elected, by the store's wall clock; 0 if
                       * unknown */
    int64_t now_ms;   /* the store's wall clock */
    int64_t ttl_ms;   /* as in struct hf_info */
    int64_t pid;      /* process id of the leader; 0 if unknown */
    char owner[HF_OWNER_MAX]; /* "<client uuid>:<holder>" */
    char host[HF_HOST_MAX];   /* host of the leader; "" if unknown */
    char label[HF_LABEL_MAX]; /* label of its client; "" if unknown */
    uint64_t version;         /* version of the published value; 0 if none */
    size_t len;               /* bytes in `data` */
    char *data; /* the published value, with a NUL after it; owned by the
                 * caller: hf_leader_free(); NULL if none is published (yet) */
};
#define HF_LEADER_INIT                                                         \
    {                                                                          \
        sizeof(struct hf_leader), 0, 0, 0, 0, 0, 0, 0, "", "", "", 0, 0, 0     \
    }
static inline void hf_leader_init(struct hf_leader *leader)
{
    const struct hf_leader init = HF_LEADER_INIT;
    *leader = init;
}

#define HF_AWAIT_TRY 1u /* ask once: HF_TIMEOUT if nothing has changed */

/* How to wait for a change.  Zero is every field's default. */
struct hf_await_options {
    uint32_t struct_size; /* set by HF_AWAIT_OPTIONS_INIT */
    uint32_t flags;       /* HF_AWAIT_TRY */
    int64_t wait_ms;      /* as in struct hf_acquire_options */
    int64_t look_ms;      /* interval between requests, 10 ms to 24 h; 0:
                           * 500 ms */
    hf_cancel *cancel;    /* borrowed until the call is over; may be NULL */
};
#define HF_AWAIT_OPTIONS_INIT                                                  \
    {                                                                          \
        sizeof(struct hf_await_options), 0, 0, 0, 0                            \
    }
static inline void hf_await_options_init(struct hf_await_options *options)
{
    const struct hf_await_options init = HF_AWAIT_OPTIONS_INIT;
    *options = init;
}

/* Receive the results of the asynchronous calls.  `hold` and `leader` are
 * borrowed, and NULL unless `status` is HF_OK; `err` is borrowed. */
typedef void (*hf_campaigned_fn)(hf_election *election, int status,
                                 hf_hold *hold, const struct hf_error *err,
                                 void *user);
typedef void (*hf_resigned_fn)(hf_election *election, int status,
                               const struct hf_error *err, void *user);
typedef void (*hf_awaited_fn)(hf_election *election, int status,
                              const struct hf_leader *leader,
                              const struct hf_error *err, void *user);

/**
 * Create an election object, to campaign or to observe.  Sends nothing to the
 * store.
 *
 * @param client   borrowed
 * @param name     1 to HF_ELECTION_NAME_MAX bytes, copied: the lock's name
 * @param options  copied; NULL means all defaults
 * @param out      the new object, owned by the caller: hf_election_close();
 *                 closed with its client
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK           created
 *         HF_INVALID      the name or an option is not valid
 *         HF_UNSUPPORTED  HF_ORDER_FAIR, and the store has no queue
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_NOMEM        out of memory
 *
 * Threads: any.
 */
HF_API int hf_election_open(hf_client *client, const char *name,
                            const struct hf_election_options *options,
                            hf_election **out, struct hf_error *err);

/**
 * Free an election object.  If it leads, it resigns first.
 *
 * @param election  taken; NULL does nothing; its client must be open, and no
 *                  call on it may be running.  This waits for a running
 *                  `on_state`, and must not be called from it
 *
 * Threads: any.
 */
HF_API void hf_election_close(hf_election *election);

/**
 * Campaign: wait until this candidate is the leader.
 *
 * @param election  borrowed
 * @param options   copied; NULL means all defaults
 * @param hold      filled on HF_OK; may be NULL.  Borrowed until
 *                  hf_election_resign(), the next campaign or
 *                  hf_election_close()
 * @param err       filled when this fails; may be NULL
 *
 * @return HF_OK           this candidate leads, and its value is published
 *         HF_TAKEN        HF_CAMPAIGN_TRY is set, and another candidate leads
 *         HF_TIMEOUT      another candidate led until wait_ms were over
 *         HF_CANCELLED    the cancel token was fired
 *         HF_UNAVAILABLE  the store did not answer; or it did not accept the
 *                         value, and the leadership was given up
 *         HF_LOST         the leadership was lost before the value was
 *                         published
 *         HF_CONFLICT     something else is stored under the name, or in the
 *                         place of the value
 *         HF_INVALID      an option is not valid, or the candidate leads or
 *                         campaigns already
 *         HF_UNSUPPORTED  a value is given, and the store has no HF_CAP_VALUE
 *                         or no HF_CAP_FENCE
 *         HF_DENIED       the store refuses the request
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * After any status but HF_OK the candidate does not lead, unless it led before.
 *
 * Threads: any, one campaign at a time.
 */
HF_API int hf_election_campaign(hf_election *election,
                                const struct hf_campaign_options *options,
                                hf_hold **hold, struct hf_error *err);

/**
 * Campaign, asynchronously.
 *
 * @param election  borrowed until `cb` is called
 * @param options   copied; NULL means all defaults
 * @param cb        called exactly once if, and only if, this returns HF_OK, and
 *                  never from inside this function; its status is one
 *                  that hf_election_campaign() returns; may be
 *                  NULL
 * @param user      passed to `cb` unchanged
 * @param err       filled when this fails; may be NULL
 *
 * @return HF_OK           the campaign has been started
 *         HF_INVALID      an option is not valid, or the candidate leads or
 *                         campaigns already
 *         HF_UNSUPPORTED  as for hf_election_campaign()
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_election_campaign_start(hf_election *election,
                                      const struct hf_campaign_options *options,
                                      hf_campaigned_fn cb, void *user,
                                      struct hf_error *err);

/**
 * Resign: delete the published value, and let the next candidate lead.
 *
 * @param election  borrowed
 * @param err       filled when this fails; may be NULL
 *
 * @return HF_OK           resigned
 *         HF_NOT_OWNER    the candidate does not lead
 *         HF_EXPIRED      the lease had ended before
 *         HF_LOST         the leadership was lost before
 *         HF_UNAVAILABLE  no answer; the leadership ends with its lease at the
 *                         latest
 *         HF_CONFLICT     something else is stored under the name, or in the
 *                         place of the value
 *         HF_DENIED       the store refuses the request
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Whatever this returns, the candidate does not lead afterwards.
 *
 * Threads: any.
 */
HF_API int hf_election_resign(hf_election *election, struct hf_error *err);

/**
 * Resign, asynchronously.
 *
 * @param election  borrowed until `cb` is called
 * @param cb        called exactly once if, and only if, this returns HF_OK, and
 *                  never from inside this function; its status is one
 *                  that hf_election_resign() returns; may be NULL
 * @param user      passed to `cb` unchanged
 * @param err       filled when this fails; may be NULL
 *
 * @return HF_OK           the request has been started
 *         HF_NOT_OWNER    the candidate does not lead
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_election_resign_start(hf_election *election, hf_resigned_fn cb,
                                    void *user, struct hf_error *err);

/**
 * Publish another value.  A former leader cannot replace the value of its
 * successor: the value carries the fence, and a lower fence never replaces a
 * higher one.  The value is not reported after the leadership has ended; the
 * store deletes it after 366 days.
 *
 * @param election  borrowed; its candidate leads
 * @param value     borrowed for the call; may be NULL if value_len is 0
 * @param value_len bytes in `value`, at most HF_ELECTION_VALUE_MAX
 * @param err       filled when this fails; may be NULL
 *
 * @return HF_OK           published
 *         HF_NOT_OWNER    the candidate does not lead
 *         HF_LOST         the leadership was lost; nothing was changed
 *         HF_UNAVAILABLE  no answer; the value may or may not have been
 *                         published; the candidate still leads
 *         HF_INVALID      the value is too long, or NULL with a length
 *         HF_CONFLICT     something else is stored in the place of the value
 *         HF_UNSUPPORTED  the store has no HF_CAP_VALUE or no HF_CAP_FENCE
 *         HF_DENIED       the store refuses the request
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any.
 */
HF_API int hf_election_publish(hf_election *election, const void *value,
                               size_t value_len, struct hf_error *err);

/* Receives the result of hf_election_publish_start().  `err` is borrowed. */
typedef void (*hf_published_fn)(hf_election *election, int status,
                                const struct hf_error *err, void *user);

/**
 * Publish another value, asynchronously.
 *
 * @param election  borrowed until `cb` has returned; its candidate leads
 * @param value     copied; may be NULL if value_len is 0
 * @param value_len bytes in `value`, at most HF_ELECTION_VALUE_MAX
 * @param cb        called exactly once if, and only if, this returns HF_OK, and
 *                  never from inside this function; its status is one
 *                  that hf_election_publish() returns
 * @param user      passed to `cb` unchanged
 * @param err       filled when this fails; may be NULL
 *
 * @return HF_OK           the request has been started
 *         HF_NOT_OWNER    the candidate does not lead
 *         HF_INVALID      the value is too long, or NULL with a length; or `cb`
 *                         is NULL
 *         HF_UNSUPPORTED  the store has no HF_CAP_VALUE or no HF_CAP_FENCE
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_election_publish_start(hf_election *election, const void *value,
                                     size_t value_len, hf_published_fn cb,
                                     void *user, struct hf_error *err);

/**
 * Ask the store for the leader.
 *
 * @param election  borrowed
 * @param out       owned by the caller; HF_LEADER_INIT; filled on HF_OK; free
 *                  its data with hf_leader_free()
 * @param err       filled when this fails; may be NULL
 *
 * @return HF_OK           `out` is filled, also if there is no leader
 *         HF_INVALID      struct_size of `out` is not set
 *         HF_UNAVAILABLE  the store did not answer
 *         HF_CONFLICT     something else is stored under the name, or in the
 *                         place of the value
 *         HF_DENIED       the store refuses the request
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any.
 */
HF_API int hf_election_look(hf_election *election, struct hf_leader *out,
                            struct hf_error *err);

/**
 * Wait until the leader changes, until there is no leader any more, or until
 * another value is published.  The store is asked repeatedly: a change that is
 * undone between two requests is not seen.
 *
 * @param election  borrowed
 * @param seen      borrowed; the known leader, as filled by an earlier call;
 *                  its data is not read.  NULL: none is known, and this returns
 *                  at once
 * @param options   copied; NULL means all defaults
 * @param out       owned by the caller; HF_LEADER_INIT; filled on HF_OK; free
 *                  its data with hf_leader_free().  It may be the same
 *                  struct as `seen` if the data of that was freed
 * @param err       filled when this fails; may be NULL
 *
 * @return HF_OK           `out` is filled with the change
 *         HF_TIMEOUT      no change within wait_ms; or, with HF_AWAIT_TRY, no
 *                         change when the store was asked
 *         HF_UNAVAILABLE  the store did not answer for patience_ms, or until
 *                         wait_ms and a few round trips were over
 *         HF_CANCELLED    the cancel token was fired
 *         HF_INVALID      an option is not valid
 *         HF_CONFLICT     as for hf_election_look()
 *         HF_DENIED       the store refuses the request
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any.
 */
HF_API int hf_election_await(hf_election *election,
                             const struct hf_leader *seen,
                             const struct hf_await_options *options,
                             struct hf_leader *out, struct hf_error *err);

/**
 * Wait for a change, asynchronously.  To receive one change after the other,
 * call this again from `cb`, with the leader that `cb` received.
 *
 * @param election  borrowed until `cb` is called
 * @param seen      copied; as for hf_election_await()
 * @param options   copied; NULL means all defaults
 * @param cb        called exactly once if, and only if, this returns HF_OK, and
 *                  never from inside this function; its status is one
 *                  that hf_election_await() returns
 * @param user      passed to `cb` unchanged
 * @param err       filled when this fails; may be NULL
 *
 * @return HF_OK           the wait has been started
 *         HF_INVALID      an option is not valid
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_election_await_start(hf_election *election,
                                   const struct hf_leader *seen,
                                   const struct hf_await_options *options,
                                   hf_awaited_fn cb, void *user,
                                   struct hf_error *err);

/**
 * Free the data of a leader.
 *
 * @param election  borrowed; the object that filled `leader`
 * @param leader    its data is taken; the other fields stay
 *
 * Threads: any.
 */
HF_API void hf_leader_free(hf_election *election, struct hf_leader *leader);

/**
 * Return the hold of the leadership, for its state, fence and validity.
 *
 * @param election  borrowed
 * @return borrowed until hf_election_resign(), the next campaign or
 *         hf_election_close(); NULL if no campaign has succeeded, after
 *         hf_election_resign(), and in a forked child
 *
 * Threads: any; nothing is sent.
 */
HF_API hf_hold *hf_election_hold(hf_election *election);

#ifdef __cplusplus
}
#endif
#endif
