/*
 * holdfast/client.h: a connection to where the locks live.
 *
 * One client per store and process is enough: it is thread-safe, shares one
 * connection among all its callers and keeps any number of locks alive with one
 * thread.  Ownership words are: borrowed, copied, owned by the caller, taken.
 */
#ifndef HOLDFAST_CLIENT_H
#define HOLDFAST_CLIENT_H

#include <stddef.h>
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hf_client hf_client;
typedef struct hf_cancel hf_cancel;
typedef struct hf_hold hf_hold; /* what was acquired: hold.h */

/* Bytes of stack that a thread must have left for a call of this library, its
 * thread-local data included; what a callback of the user's needs comes on top
 * of that.  Threads of the library's own have what they need. */
#define HF_THREAD_STACK_MIN 65536

/* The three truths about a hold. */
enum hf_state {
    HF_STATE_NONE = 0,    /* not held by this holder */
    HF_STATE_HELD = 1,    /* held, and valid for hf_hold_valid_ms() more */
    HF_STATE_AT_RISK = 2, /* still held, but not renewed in time: wind down */
    HF_STATE_LOST = 3     /* no longer held: stop now */
};

/* A change of state of one hold. */
struct hf_event {
    int state;        /* enum hf_state: HELD (again), AT_RISK or LOST */
    int status;       /* why: HF_OK, HF_EXPIRED, HF_LOST, HF_UNAVAILABLE */
    uint64_t holder;  /* whose hold */
    hf_hold *hold;    /* the first handle that was given of it; NULL if that
                       * is gone, or none was asked for */
    uint64_t fence;   /* its fencing token */
    int64_t valid_ms; /* how long it is still valid; 0 when LOST */
    char name[513];   /* the lock's name, with a NUL behind it */
    size_t name_len;  /* its length: names may hold any byte but NUL */
    char text[HF_ERROR_TEXT_MAX]; /* the sentence, "" for HELD */
};

/* Told of a change of state.  `ev` is borrowed for the call.  It may call
 * anything, blocking calls included, and is never called for the same hold
 * again before it has returned: what happens meanwhile is told after that. */
typedef void (*hf_state_fn)(const struct hf_event *ev, void *user);

enum hf_log_level {
    HF_LOG_ERROR = 1,
    HF_LOG_WARN = 2,
    HF_LOG_INFO = 3,
    HF_LOG_DEBUG = 4
};

/* Receives one line of log, without a newline; it is borrowed for the call, and
 * never holds a password.  May be called on any thread and inside the library's
 * own locks: it must neither block nor fork(), and may call nothing of this
 * library. */
typedef void (*hf_log_fn)(int level, const char *line, void *user);

/* Where the library gets memory.  All three or none; `resize` and `release`
 * behave as realloc and free. */
struct hf_allocator {
    void *(*allocate)(size_t size, void *user);
    void *(*resize)(void *ptr, size_t size, void *user);
    void (*release)(void *ptr, void *user);
    void *user;
};

/* Run no thread: the program's own loop calls hf_client_process(). */
#define HF_CLIENT_OWN_LOOP 1u

/* What an acquire does when the store cannot be reached. */
enum hf_fallback {
    HF_FALLBACK_DEFAULT = 0, /* what the URL says, or fail */
    HF_FALLBACK_FAIL = 1,    /* HF_UNAVAILABLE after patience_ms */
    HF_FALLBACK_WAIT = 2,    /* wait for it, up to the caller's wait_ms */
    HF_FALLBACK_LOCAL = 3    /* take a lock of this host instead (file:), which
                              * other hosts do not see; marked in the grant.
                              * It excludes those of this host who cannot reach
                              * the store either; when the store answers again,
                              * others may be granted its lock while this one
                              * lasts, but no holder of the same client: he
                              * goes to this host as well */
};

/* How a client behaves.  Zero is every field's default; a value given here wins
 * over the same option in the URL's query (named in brackets). */
struct hf_client_options {
    uint32_t struct_size; /* set by HF_CLIENT_OPTIONS_INIT */
    uint32_t flags;       /* HF_CLIENT_* */
    int64_t lease_ms;     /* default lease; 0: 30 s               [lease=] */
    int64_t timeout_ms;   /* longest wait for one answer; 0: 2 s  [timeout=] */
    int64_t patience_ms;  /* answerless for so long: UNAVAILABLE;
                           * 0: 2 s                            [patience=] */
    int64_t drift_ppm;    /* clock rate error allowed for; 0: 10000 (1 %)
                           *                                      [drift=] */
    int64_t spin_us;      /* spin before sleeping; 0: 50, adaptive; -1: never
                           *                                    [spin_us=] */
    const char *user;     /* copied; name for AUTH */
    const char *password; /* copied; wins over the URL's */
    const char *label;    /* copied; shown to who asks who holds; NULL: the
                           * program's name                       [label=] */
    struct hf_allocator allocator; /* copied; all NULL: malloc */
    hf_log_fn log;                 /* NULL: no log */
    void *log_user;                /* passed to `log` */
    int log_level;                 /* highest level wanted; 0: HF_LOG_WARN */
    hf_state_fn on_state; /* told of every change of state; may be NULL */
    void *state_user;     /* passed to `on_state` */
    int32_t fallback;     /* enum hf_fallback                  [fallback=] */
    int32_t handover;     /* give a released lock to the next waiter of this
                           * process, without asking the store, at most so
                           * many times in a row; 0: never     [handover=].
                           * Such a release is HF_OK without an answer of the
                           * store: that the lock was broken or deleted
                           * meanwhile shows at the next renewal, or at the
                           * end of the row, and until then a token handed on
                           * may be below one given elsewhere (and is refused
                           * by whoever checks it) */
    int64_t handover_ms;  /* and no longer than this; 0: 50 ms
                           *                              [handover_for=] */
    const char *password_file; /* copied; its first line is the password, read
                                * at every connect, so that it may change;
                                * not with `password`   [password_file=] */
};
#define HF_CLIENT_OPTIONS_INIT                                                 \
    {                                                                          \
        sizeof(struct hf_client_options), 0, 0, 0, 0, 0, 0, 0, 0, 0,           \
            {0, 0, 0, 0}, 0, 0, 0, 0, 0, 0, 0, 0, 0                            \
    }

/* What a backend can do: hf_client_caps(). */
#define HF_CAP_FENCE 0x01u /* every grant has a rising token */
#define HF_CAP_LEASE 0x02u /* a hold ends by itself when its lease does */
/* 0x04u is reserved. */
#define HF_CAP_KERNEL 0x08u   /* a hold ends with its process, never before */
#define HF_CAP_DETACHED 0x10u /* a hold may outlive its process (tickets) */
#define HF_CAP_WATCH 0x20u    /* waiting without polling */
#define HF_CAP_BREAK 0x40u    /* a hold can be taken away */
#define HF_CAP_LIST 0x80u     /* locks can be listed */
#define HF_CAP_BALLOT 0x100u  /* may be a member of a quorum */
#define HF_CAP_VALUE 0x200u   /* versioned values: value.h, once.h */
#define HF_CAP_GUARD 0x400u   /* values that refuse stale holders: guard.h */
#define HF_CAP_RW 0x800u      /* HF_KIND_READ and HF_KIND_WRITE */
#define HF_CAP_QUEUE 0x1000u  /* HF_ORDER_FAIR and HF_ORDER_WRITERS */
#define HF_CAP_PERMIT 0x2000u /* HF_KIND_PERMIT */
#define HF_CAP_TALLY 0x4000u  /* plain counters, latches, barriers */

/**
 * Fill `options` with the defaults; for languages without the INIT macro.
 *
 * @param options  owned by the caller
 *
 * Threads: any.
 */
HF_API void hf_client_options_init(struct hf_client_options *options);

/**
 * Open a client.  Returns at once: connecting goes on in the background, and
 * the first call that needs the server waits for it.
 *
 *   file:                      this host, no server, this user's directory
 *   file:/dir  file:///dir     this host, locks in /dir
 *   memory:  memory:space      this process only
 *   redis://[user[:password]@]host[:port][/db]
 *   rediss://...               the same over TLS, 1.2 or later
 *   redis+unix://[user[:password]@]/path/to.sock[?db=N]
 *     ?tls=on          TLS without the s: for redis+unix, and for those below
 *     &tls_ca=PATH     trust this file's or (hashed) directory's authorities
 *                      and no others; otherwise the system's
 *     &tls_cert=FILE&tls_key=FILE     who we are, if the server asks; the key
 *                      may be in the same file
 *     &tls_key_password_file=FILE     its first line opens the key
 *     &tls_name=NAME   what the server's certificate must be for; otherwise
 *                      the host
 *     &tls_verify=off  believe whoever answers; the log warns of it
 *     &password_file=FILE             as in struct hf_client_options
 *     &format=string   the layout of SET NX PX libraries, not Redisson's
 *     &fence=off       ... and no fencing token: see HF_CAP_FENCE
 *     &wait=K          a grant counts once K replicas have it; majority: of
 *                      primary and replicas; all: of them.  Too few in time:
 *                      HF_UNAVAILABLE, and the lock is given back.  A server
 *                      that forbids WAIT, or has none, is refused
 *     &wait_renew=on   ... and a renewal too
 *     &waitaof=1       a grant counts once the server's disk has it; 1,K: and
 *                      those of K replicas (Redis 7.2 or later)
 *     &member=ok       acquire although the server is one of several members
 *                      of a quorum, which knows nothing of these locks;
 *                      otherwise that is HF_CONFLICT
 *   redis-sentinel://[user[:password]@]host[:port],host[:port],.../name[/db]
 *                    the primary that these Sentinels call `name`; user and
 *                    password are the primary's
 *     ?sentinel_user=U&sentinel_password_file=FILE   for the Sentinels; or the
 *                      password in HOLDFAST_SENTINEL_PASSWORD
 *     &redirect=same-network   which primary the Sentinels may name, and so
 *                      where the password is sent: one in the network of the
 *                      Sentinels.  Networks are this host, private addresses,
 *                      and all others; a Sentinel that is reached on this host
 *                      may also name a private address
 *     &redirect=listed ... one of the URL's hosts, or of redirect_hosts=
 *     &redirect=any    ... whichever they name
 *     &redirect_hosts=H1,H2,...   these besides, as the Sentinels write them
 *   redis-cluster://[user[:password]@]host[:port],host[:port],...
 *                    a Redis Cluster; one of these is enough to find the rest
 *     ?format, fence   as above
 *     &pubsub=auto     wake-ups by sharded messages where the servers have
 *                      them, as Redisson since 3.28; also by PUBLISH where the
 *                      lock's server has a classic subscriber, and also by
 *                      SUBSCRIBE once a holder of Redisson's was met
 *     &pubsub=classic  ... by PUBLISH, as Redisson before 3.22
 *     &pubsub=sharded  ... as auto; servers without sharded messages are
 *                      refused
 *     &pubsub=both     ... always by both kinds, sent and listened to: beside
 *                      Redisson 3.22 to 3.27, which use either
 *     &redirect, redirect_hosts   as above: which nodes the others may name
 *   redlock://[user[:password]@]host[:port],host[:port],...[/db]
 *   quorum:[option=value&...|]URL|URL|URL      a lock over N of the above: held
 *                    when more than half of them have granted it; see quorum.h
 *
 * @param url      copied; NULL means "file:"
 * @param options  copied; NULL means all defaults
 * @param out      the new client, owned by the caller: hf_client_close()
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK           opened
 *         HF_INVALID      an unknown scheme, option, port or database; a lock
 *                         directory whose parent is missing, or that is none;
 *                         a file that is named and is missing or no good
 *         HF_UNSUPPORTED  the backend is not built in or not installed
 *         HF_DENIED       the lock directory or a file cannot be used; in a
 *                         directory that can only be read, locks can be
 *                         inspected and listed, and the other calls fail
 *         HF_NOMEM        nothing was allocated
 *
 * Threads: any.
 */
HF_API int hf_client_open(const char *url,
                          const struct hf_client_options *options,
                          hf_client **out, struct hf_error *err);

/**
 * Close a client.  Locks still held are released where the server can be
 * reached within `timeout_ms` of the options; calls under way in other threads
 * return HF_CLOSED, and asynchronous ones are answered with it.  This waits for
 * them, and so for a function that hf_value_update() or hf_client_list() is
 * running.  Lock objects that are still open go with it; cancel tokens must be
 * closed before.
 *
 * A host's name that the system's resolver has not answered yet is the one
 * thing that is not waited for: its look-up, one per name in the process, goes
 * on in a thread of its own.  The shared library therefore stays loaded after
 * dlclose().
 *
 * @param client  taken; NULL does nothing
 *
 * Threads: any, once; not from one of its callbacks.  In a forked child this
 * does nothing: the copy goes with the process.
 */
HF_API void hf_client_close(hf_client *client);

/**
 * What the client's backend can do.
 *
 * @param client  borrowed
 * @return HF_CAP_* bits; 0 in a forked child
 *
 * Threads: any.
 */
HF_API unsigned hf_client_caps(const hf_client *client);

/**
 * The client's URL, without its password.
 *
 * @param client  borrowed
 * @return borrowed until hf_client_close()
 *
 * Threads: any.
 */
HF_API const char *hf_client_url(const hf_client *client);

/**
 * The options by which a client works: those given to hf_client_open(), where
 * they were zero those of the URL's query, and otherwise the defaults.
 *
 * @param client  borrowed
 * @param out     owned by the caller; its struct_size is set by
 *                HF_CLIENT_OPTIONS_INIT, the rest is filled.  Strings are
 *                borrowed until hf_client_close(); `password` is always NULL,
 *                and `password_file` is the option's, not the URL's.  spin_us
 *                is -1 if the client never spins; `fallback` is never
 *                HF_FALLBACK_DEFAULT
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK       filled
 *         HF_INVALID  struct_size is not set
 *
 * Threads: any; also in a forked child.
 */
HF_API int hf_client_settings(const hf_client *client,
                              struct hf_client_options *out,
                              struct hf_error *err);

/* What a URL says by itself: hf_url_traits(). */
#define HF_URL_PASSWORD 0x01u /* a password is written in it */
#define HF_URL_QUORUM 0x02u   /* redlock: or quorum: */
#define HF_URL_SENTINEL 0x04u /* redis-sentinel: */
#define HF_URL_CLUSTER 0x08u  /* redis-cluster: */
#define HF_URL_PROCESS 0x10u  /* memory: locks of this process only */
#define HF_URL_STRING 0x20u   /* format=string; of a quorum: of a member */

/**
 * What a URL says by itself.  Nothing is opened or asked.
 *
 * @param url  borrowed; as for hf_client_open(); NULL means "file:"
 * @return HF_URL_* bits.  Of a URL that hf_client_open() would refuse, bits may
 *         be missing, but HF_URL_PASSWORD is set wherever a password may be
 *
 * Threads: any.
 */
HF_API unsigned hf_url_traits(const char *url);

/* How a client stands with a server. */
enum hf_link {
    HF_LINK_UP = 0,          /* connected; a member of a quorum: it may vote */
    HF_LINK_CONNECTING = 1,  /* the first attempt to connect is under way */
    HF_LINK_DOWN = 2,        /* cannot be reached now; tried again */
    HF_LINK_REFUSED = 3,     /* the server or the client refuses: a wrong
                              * password, no permission, not a member of this
                              * quorum; status and text say which */
    HF_LINK_ASKING = 4,      /* a member: connected, and has not yet said
                              * whether it may vote */
    HF_LINK_BLANK = 5,       /* a member: new, or its data is lost; its
                              * quarantine begins with the first acquire */
    HF_LINK_QUARANTINED = 6, /* a member: may vote after quarantine_left_ms */
    HF_LINK_CLOCK = 7        /* a member: its clock is too far ahead of the
                              * others', and it grants nothing */
};

/* A server behind a client, as the client sees it. */
struct hf_node {
    char url[256]; /* without its password */
    int up;        /* 1: it can be reached */
    int settled;   /* 1: it may vote; always, if it is the only one */
    int64_t quarantine_left_ms; /* it may vote after so long; 0 unknown */
    int status; /* HF_OK, or why it cannot be reached, may not be a member or,
                 * its clock being wrong, grants nothing */
    char text[HF_ERROR_TEXT_MAX]; /* the sentence for it, without its URL in
                                   * front; or "" */
    int64_t clock_offset_ms;      /* its clock minus the median of the nodes' */
    char identity[96]; /* a quorum's: of this life of it; "" unknown */
    int durable;       /* a quorum's: its restarts lose nothing */
    int link;          /* enum hf_link */
};

/**
 * The servers behind a client: one, or the members of its quorum, in the order
 * of the URL.
 *
 * @param client  borrowed
 * @param out     room for `max` of them, owned by the caller; filled
 * @param max     how many to fill; 0: only count
 * @return how many there are; 0 in a forked child
 *
 * Threads: any.
 */
HF_API int hf_client_nodes(hf_client *client, struct hf_node *out, int max);

/**
 * The holder id of the calling thread: a number that no other thread of this
 * process has had, used wherever a holder is given as 0.
 *
 * @return 1 or more
 *
 * Threads: any.
 */
HF_API uint64_t hf_holder_self(void);

/**
 * A holder id that nobody has had: for a hold that is to be handed from thread
 * to thread.
 *
 * @return 1 or more, different at every call in this process
 *
 * Threads: any.
 */
HF_API uint64_t hf_holder_new(void);

/**
 * A file descriptor that is readable while hf_client_next_event() has events.
 * Events are kept only from the first call of this on; the newest 1,024.
 *
 * @param client  borrowed
 * @return the fd, borrowed: poll it, never read or close it; -1 if there is
 *         none to be had
 *
 * Threads: any.
 */
HF_API int hf_client_event_fd(hf_client *client);

/**
 * Take the oldest change of state.
 *
 * @param client  borrowed
 * @param out     filled if there was one
 * @return HF_OK, or HF_EMPTY if there is none now
 *
 * Threads: any.
 */
HF_API int hf_client_next_event(hf_client *client, struct hf_event *out);

/**
 * Own-loop mode: a file descriptor that is readable whenever
 * hf_client_process() has something to do, timers included.
 *
 * @param client  borrowed; opened with HF_CLIENT_OWN_LOOP
 * @return the fd, borrowed; -1 if the client has a thread of its own
 *
 * Threads: any.
 */
HF_API int hf_client_fd(hf_client *client);

/**
 * Own-loop mode: do what is due, without blocking, and run the callbacks.
 *
 * @param client  borrowed; opened with HF_CLIENT_OWN_LOOP
 * @return HF_OK, HF_INVALID (not in own-loop mode), HF_FORKED, HF_CLOSED
 *
 * Blocking calls still work in this mode; they pump by themselves.
 *
 * Threads: any, one at a time.
 */
HF_API int hf_client_process(hf_client *client);

/**
 * Own-loop mode without a pollable timer: how long the loop may sleep.
 *
 * @param client  borrowed
 * @return milliseconds, 0 if something is due, -1 if nothing is
 *
 * Threads: any.
 */
HF_API int64_t hf_client_timeout_ms(hf_client *client);

/**
 * A token by which one or many waits can be cancelled.
 *
 * @param client  borrowed; must outlive the token
 * @param out     owned by the caller: hf_cancel_close()
 * @return HF_OK, HF_NOMEM, HF_FORKED
 *
 * Threads: any.
 */
HF_API int hf_cancel_open(hf_client *client, hf_cancel **out);

/**
 * Cancel: every wait that was given this token, now or later, ends with
 * HF_CANCELLED.  Async-signal-safe.
 *
 * @param cancel  borrowed
 *
 * Threads: any; signal handlers too.
 */
HF_API void hf_cancel_fire(hf_cancel *cancel);

/**
 * Make a fired token usable again.
 *
 * @param cancel  borrowed
 *
 * Threads: any.
 */
HF_API void hf_cancel_reset(hf_cancel *cancel);

/**
 * Free a token.  No wait may still use it.
 *
 * @param cancel  taken; NULL does nothing
 *
 * Threads: any.
 */
HF_API void hf_cancel_close(hf_cancel *cancel);

#ifdef __cplusplus
}
#endif
#endif
