/*
 * holdfast/client.h: a connection to the store that keeps the locks.
 *
 *     hf_client *client;
 *     struct hf_error err;
 *     struct hf_client_options options = HF_CLIENT_OPTIONS_INIT;
 *     options.lease_ms = 10000;
 *     if (hf_client_open("file:", &options, &client, &err) == HF_OK) {
 *         do_work();
 *         hf_client_close(client);
 *     }
 *
 * A process needs only one client per store.  A client is thread-safe, shares
 * one connection among all its callers, and renews any number of locks with one
 * thread.
 *
 * A pointer must not be NULL unless its description allows it; for handles of
 * holds see hold.h.  Four words describe the ownership of arguments and
 * results.  *Borrowed*: used, and not
 * freed.  *Copied*: the library keeps a copy.  *Owned by the caller*: freed by
 * the caller, with the function that is named.  *Taken*: the caller must not
 * use it afterwards.
 *
 * Callbacks run on *the thread that pumps*: the thread that serves the client's
 * connections at that moment.  It is the client's own thread, or a thread that
 * is inside a blocking call, or in own-loop mode the thread that calls
 * hf_client_process().
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
typedef struct hf_hold hf_hold; /* what a call has acquired: hold.h */

/* Bytes of stack that a thread must have left when it calls this library,
 * including thread-local data.  A callback of the program needs its own stack
 * in addition.  The library's own threads have enough. */
#define HF_THREAD_STACK_MIN 65536

/* The state of a hold. */
enum hf_state {
    HF_STATE_NONE = 0,    /* not held by this holder */
    HF_STATE_HELD = 1,    /* held, and valid for hf_hold_valid_ms() */
    HF_STATE_AT_RISK = 2, /* still held, but not renewed in time: wind down */
    HF_STATE_LOST = 3     /* no longer held: stop now */
};

/* A change of state of one hold. */
struct hf_event {
    /* Set by HF_EVENT_INIT; in callbacks by the library. */
    uint32_t struct_size;
    int state;        /* enum hf_state: AT_RISK, LOST, or HELD again */
    int status;       /* reason: HF_OK, HF_EXPIRED, HF_LOST or
                       * HF_UNAVAILABLE */
    uint64_t holder;  /* id of the holder */
    hf_hold *hold;    /* borrowed; the first handle of the hold; NULL if that
                       * was released, or the caller took no handle */
    uint64_t fence;   /* fencing token of the hold */
    int64_t valid_ms; /* how long the hold is still valid; 0 if LOST */
    char name[513];   /* the lock's name, NUL-terminated */
    size_t name_len;  /* bytes in `name`; any byte but NUL may occur */
    char text[HF_ERROR_TEXT_MAX]; /* the reason in words, without the name in
                                   * front; "" for HELD */
};
#define HF_EVENT_INIT                                                          \
    {                                                                          \
        sizeof(struct hf_event), 0, 0, 0, 0, 0, 0, "", 0, ""                   \
    }
static inline void hf_event_init(struct hf_event *event)
{
    const struct hf_event init = HF_EVENT_INIT;
    *event = init;
}

/* Receives a change of state.  `ev` is borrowed for the call.  The function may
 * make any call, including blocking calls.  It is never called again for the
 * same hold before it has returned: a later change is reported after that. */
typedef void (*hf_state_fn)(const struct hf_event *ev, void *user);

enum hf_log_level {
    HF_LOG_ERROR = 1,
    HF_LOG_WARN = 2,
    HF_LOG_INFO = 3,
    HF_LOG_DEBUG = 4
};

/* Receives one line of log, without a newline.  `line` is borrowed for the
 * call, and never contains a password.  The function may be called on any
 * thread, and while the library holds its internal locks: it must not block,
 * must not call fork(), and must not call this library. */
typedef void (*hf_log_fn)(int level, const char *line, void *user);

/* How the library allocates memory.  Set all three functions or none; `resize`
 * and `release` behave like realloc and free.  It is part of another struct,
 * and never changes. */
struct hf_allocator {
    void *(*allocate)(size_t size, void *user);
    void *(*resize)(void *ptr, size_t size, void *user);
    void (*release)(void *ptr, void *user);
    void *user;
};

/* Own-loop mode: the client runs no thread, and the program's event loop calls
 * hf_client_process(). */
#define HF_CLIENT_OWN_LOOP 1u

/* What an acquire does when the store cannot be reached. */
enum hf_fallback {
    HF_FALLBACK_DEFAULT = 0, /* what the URL says, otherwise FAIL */
    HF_FALLBACK_FAIL = 1,    /* return HF_UNAVAILABLE after patience_ms */
    HF_FALLBACK_WAIT = 2,    /* wait for the store, up to wait_ms */
    HF_FALLBACK_LOCAL = 3    /* acquire a lock of this host instead (file:),
                              * which other hosts do not see;
                              * hf_hold_guarantee() tells.  It excludes holders
                              * of this host that cannot reach the store either.
                              * When the store answers again, other clients may
                              * be granted the store's lock while the local hold
                              * lasts.  Holders of the same client are not: they
                              * use the lock of this host as well */
};

/* How a client behaves.  Zero is every field's default.  A value given here has
 * precedence over the same option in the URL's query (named in brackets). */
struct hf_client_options {
    uint32_t struct_size; /* set by HF_CLIENT_OPTIONS_INIT */
    uint32_t flags;       /* HF_CLIENT_* */
    int64_t lease_ms;     /* default lease; 0: 30 s               [lease=] */
    int64_t timeout_ms;   /* longest wait for one answer; 0: 2 s  [timeout=] */
    int64_t patience_ms;  /* HF_UNAVAILABLE after this long without an answer;
                           * 0: 2 s                            [patience=] */
    int64_t drift_ppm;    /* clock rate error that is allowed for; 0: 10000
                           * (1 %)                                [drift=] */
    int64_t spin_us;      /* how long to spin before sleeping; 0: 50, adaptive;
                           * -1: never                          [spin_us=] */
    const char *user;     /* copied; user name for AUTH */
    const char *password; /* copied; has precedence over the URL's */
    const char *label;    /* copied; shown as the holder's name; NULL: the
                           * program's name                       [label=] */
    struct hf_allocator allocator; /* copied; all NULL: malloc */
    hf_log_fn log;                 /* NULL: no log */
    void *log_user;                /* passed to `log` */
    int log_level;                 /* highest level to log; 0: HF_LOG_WARN */
    hf_state_fn on_state; /* receives every change of state; may be NULL */
    void *state_user;     /* passed to `on_state` */
    int32_t fallback;     /* enum hf_fallback                  [fallback=] */
    int32_t handover;     /* how many times in a row a released lock may be
                           * handed to the next waiter of this process without
                           * asking the store; 0: never        [handover=].
                           * Such a release returns HF_OK without an answer of
                           * the store.  If the lock was broken or deleted
                           * meanwhile, that is noticed at the next renewal or
                           * at the end of the row.  Until then a token that
                           * was handed on may be lower than a token granted
                           * elsewhere, and a resource that checks tokens
                           * refuses it */
    int64_t handover_ms;  /* longest duration of such a row; 0: 50 ms
                           *                              [handover_for=] */
    const char *password_file; /* copied; its first line is the password.  It is
                                * read at every connect, so that it may change.
                                * Not together with `password`
                                *                       [password_file=] */
};
#define HF_CLIENT_OPTIONS_INIT                                                 \
    {                                                                          \
        sizeof(struct hf_client_options), 0, 0, 0, 0, 0, 0, 0, 0, 0,           \
            {0, 0, 0, 0}, 0, 0, 0, 0, 0, 0, 0, 0, 0                            \
    }
static inline void hf_client_options_init(struct hf_client_options *options)
{
    const struct hf_client_options init = HF_CLIENT_OPTIONS_INIT;
    *options = init;
}

/* Capabilities of a backend: hf_client_caps(). */
#define HF_CAP_FENCE 0x01u /* every grant has a higher token */
#define HF_CAP_LEASE 0x02u /* a hold ends when its lease ends */
/* 0x04u is reserved. */
#define HF_CAP_KERNEL 0x08u     /* a hold lasts until its process ends */
#define HF_CAP_DETACHED 0x10u   /* a hold may outlive its process: tickets */
#define HF_CAP_WATCH 0x20u      /* a waiter is notified, without polling */
#define HF_CAP_BREAK 0x40u      /* hf_lock_break() */
#define HF_CAP_LIST 0x80u       /* hf_client_list() */
#define HF_CAP_BALLOT 0x100u    /* can be a member of a quorum */
#define HF_CAP_VALUE 0x200u     /* versioned values: value.h, once.h */
#define HF_CAP_GUARD 0x400u     /* values that refuse stale holders: guard.h */
#define HF_CAP_RW 0x800u        /* HF_KIND_READ and HF_KIND_WRITE */
#define HF_CAP_QUEUE 0x1000u    /* HF_ORDER_FAIR and HF_ORDER_WRITERS */
#define HF_CAP_PERMIT 0x2000u   /* HF_KIND_PERMIT */
#define HF_CAP_TALLY 0x4000u    /* plain counters, latches, barriers */
#define HF_CAP_IN_ORDER 0x8000u /* plain locks serve waiters in order */
#define HF_CAP_STOCK 0x10000u   /* sales: stock.h */
#define HF_CAP_LEDGER 0x20000u  /* the orders of sales: orders.h */

/**
 * Open a client.  Returns at once: the client connects in the background, and
 * the first call that needs the server waits for the connection.
 *
 *   file:                      this host, no server, this user's directory
 *   file:/dir  file:///dir     this host, locks in /dir
 *   memory:  memory:space      this process only
 *   redis://[user[:password]@]host[:port][/db]
 *   rediss://...               the same over TLS, 1.2 or later
 *   redis+unix://[user[:password]@]/path/to.sock[?db=N]
 *     ?tls=on          TLS for schemes without rediss: redis+unix and those
 *                      below
 *     &tls_ca=PATH     trust only the authorities in this file or (hashed)
 *                      directory; default: the system's
 *     &tls_cert=FILE&tls_key=FILE     the client's certificate, if the server
 *                      asks for it; the key may be in the same file
 *     &tls_key_password_file=FILE     its first line decrypts the key
 *     &tls_name=NAME   the name that the server's certificate must have;
 *                      default: the host
 *     &tls_verify=off  accept any certificate; the log warns about it
 *     &password_file=FILE             as in struct hf_client_options
 *     &format=string   the layout of SET NX PX libraries instead of Redisson's
 *     &fence=off       no fencing tokens, with format=string: see HF_CAP_FENCE
 *     &wait=K          a grant counts after K replicas have confirmed it;
 *                      majority: a majority of the primary and its replicas;
 *                      all: all replicas.  If too few confirm in time, the
 *                      call returns HF_UNAVAILABLE and the lock is released.
 *                      A server that forbids or lacks WAIT is refused
 *     &wait_renew=on   the same for renewals
 *     &waitaof=1       a grant counts after it is on the server's disk; 1,K:
 *                      and on the disks of K replicas (Redis 7.2 or later)
 *     &member=ok       acquire even if the server is one of several members of
 *                      a quorum, which does not know these locks; without it
 *                      an acquire fails with HF_CONFLICT
 *   redis-sentinel://[user[:password]@]host[:port],host[:port],.../name[/db]
 *                    the primary that these Sentinels call `name`; user and
 *                    password are those of the primary
 *     ?sentinel_user=U&sentinel_password_file=FILE   for the Sentinels; or the
 *                      password in HOLDFAST_SENTINEL_PASSWORD
 *     &redirect=same-network   which primary the Sentinels may name, and so
 *                      where the password is sent: a primary in the network
 *                      of the Sentinels.  The networks are this host, private
 *                      addresses, and all other addresses.  A Sentinel that is
 *                      reached on this host may also name a private address
 *     &redirect=listed   only a host of the URL or of redirect_hosts=
 *     &redirect=any    any primary
 *     &redirect_hosts=H1,H2,...   additional hosts, as the Sentinels write them
 *   redis-cluster://[user[:password]@]host[:port],host[:port],...
 *                    a Redis Cluster; one host is enough to find the others
 *     ?format, fence   as above
 *     &pubsub=auto     wake-ups by sharded messages where the servers have
 *                      them, as Redisson since 3.28; also by PUBLISH where the
 *                      lock's server has a classic subscriber, and also by
 *                      SUBSCRIBE after a Redisson holder was seen
 *     &pubsub=classic  wake-ups by PUBLISH, as Redisson before 3.22
 *     &pubsub=sharded  as auto, but servers without sharded messages are
 *                      refused
 *     &pubsub=both     always send and receive both kinds, to work together
 *                      with Redisson 3.22 to 3.27, which use either
 *     &redirect, redirect_hosts   as above, for the nodes of the cluster
 *   redlock://[user[:password]@]host[:port],host[:port],...[/db]
 *   quorum:[option=value&...|]URL|URL|URL      a lock over several of the
 *                    stores above: held when more than half of the members
 *                    have granted it; see quorum.h
 *
 * @param url      copied; NULL means "file:"
 * @param options  copied; NULL means all defaults
 * @param out      the new client, owned by the caller: hf_client_close()
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK           opened
 *         HF_INVALID      a scheme, option, port or database is not valid; the
 *                         parent of the lock directory is missing, or it is
 *                         not a directory; a file that is named is missing or
 *                         not usable
 *         HF_UNSUPPORTED  the backend is not built in or not installed
 *         HF_DENIED       no permission for the lock directory or a file.  A
 *                         directory that can only be read is opened: its locks
 *                         can be inspected and listed, and other calls fail
 *         HF_NOMEM        out of memory; nothing was allocated
 *
 * Threads: any.
 */
HF_API int hf_client_open(const char *url,
                          const struct hf_client_options *options,
                          hf_client **out, struct hf_error *err);

/**
 * Close a client.  Releases the locks that are still held, if the server
 * answers within `timeout_ms` of the options.  Calls in other threads return
 * HF_CLOSED, and callbacks receive it.  This waits for those calls to end,
 * including a function that hf_value_update(), hf_client_list() or
 * hf_client_nodes() is running.
 *
 * Closing a client closes everything that was opened from it: locks,
 * semaphores, latches, barriers, elections, sets of locks, runs of
 * hf_once_begin() and cancel tokens.  Each of them may be closed before, and
 * must not be used or closed afterwards: its memory is freed.  (A handle of a
 * hold may still be passed to a call, which returns HF_INVALID: hold.h.)
 *   - A set belongs to the client of its first lock.  Once a client of any
 *     of its locks was closed, the set may only be closed.
 *   - A cancel token that waits of other clients use must outlive those
 *     waits.
 *   - An election that leads gives up its leadership.  Its published value is
 *     not deleted, but no longer belongs to a leader.
 *   - A run that has not ended stays recorded as a run that died.
 *   - Data that a call allocated for the caller (hf_value_free(),
 *     hf_leader_free(), hf_once_result_free()) must be freed by the caller
 *     before it closes the client.
 *
 * This does not wait for the system's resolver: the look-up of a host name, at
 * most one per name in the process, continues in its own thread.  The shared
 * library therefore stays loaded after dlclose().
 *
 * @param client  taken; NULL does nothing
 *
 * Threads: any, once; not from a callback of this client.  In a forked child
 * this does nothing: the memory is freed when the process ends.
 */
HF_API void hf_client_close(hf_client *client);

/**
 * Return the capabilities of the client's backend.
 *
 * @param client  borrowed
 * @return HF_CAP_* bits; 0 in a forked child
 *
 * Threads: any.
 */
HF_API unsigned hf_client_caps(const hf_client *client);

/**
 * Return the client's URL, without its password.
 *
 * @param client  borrowed
 * @return borrowed until hf_client_close()
 *
 * Threads: any.
 */
HF_API const char *hf_client_url(const hf_client *client);

/**
 * Return the options that are in effect: the value given to hf_client_open();
 * if that was zero, the value in the URL's query; otherwise the default.
 *
 * @param client  borrowed
 * @param out     owned by the caller; the caller sets struct_size with
 *                HF_CLIENT_OPTIONS_INIT, the other fields are filled.  Strings
 *                are borrowed until hf_client_close().  `password` is always
 *                NULL, and `password_file` is that of the options, not of the
 *                URL.  spin_us is -1 if the client never spins.  `fallback` is
 *                never HF_FALLBACK_DEFAULT
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK       `out` is filled
 *         HF_INVALID  struct_size is not set
 *
 * Threads: any; also in a forked child.
 */
HF_API int hf_client_settings(const hf_client *client,
                              struct hf_client_options *out,
                              struct hf_error *err);

/* Properties of a URL: hf_url_traits(). */
#define HF_URL_PASSWORD 0x01u /* contains a password */
#define HF_URL_QUORUM 0x02u   /* redlock: or quorum: */
#define HF_URL_SENTINEL 0x04u /* redis-sentinel: */
#define HF_URL_CLUSTER 0x08u  /* redis-cluster: */
#define HF_URL_PROCESS 0x10u  /* memory: */
#define HF_URL_STRING 0x20u   /* format=string, in a quorum for any member */
#define HF_URL_OPTIONS 0x40u  /* has options behind a '?'; not for a quorum */
/* Other hosts may not see it: file:, sqlite:, memory:, redis+unix:, or a quorum
 * with such a member. */
#define HF_URL_HOST 0x80u
/* Names another store in another directory: sqlite: with a relative path, in a
 * quorum for any member. */
#define HF_URL_RELATIVE 0x100u
/* Has a user, a password or a password_file, in a quorum for any member. */
#define HF_URL_LOGIN 0x200u

/**
 * Return the properties of a URL.  Opens nothing and sends nothing.
 *
 * @param url  borrowed; as for hf_client_open(); NULL means "file:"
 * @return HF_URL_* bits.  For a URL that hf_client_open() would refuse, bits
 *         may be missing, but HF_URL_PASSWORD and HF_URL_LOGIN are set if the
 *         URL may contain a password
 *
 * Threads: any.
 */
HF_API unsigned hf_url_traits(const char *url);

/* The connection of a client to a server. */
enum hf_link {
    HF_LINK_UP = 0,          /* connected; a member of a quorum may vote */
    HF_LINK_CONNECTING = 1,  /* the first attempt to connect is in progress */
    HF_LINK_DOWN = 2,        /* cannot be reached now; the client tries again */
    HF_LINK_REFUSED = 3,     /* the server or the client refuses: a wrong
                              * password, no permission, not a member of this
                              * quorum; status and text give the reason */
    HF_LINK_ASKING = 4,      /* a member: connected, but not yet known whether
                              * it may vote */
    HF_LINK_BLANK = 5,       /* a member: new, or its data is lost; its
                              * quarantine begins with the first acquire */
    HF_LINK_QUARANTINED = 6, /* a member: may vote after quarantine_left_ms */
    HF_LINK_CLOCK = 7        /* a member: its clock is too far ahead of the
                              * other members, and it grants nothing */
};

/* A server behind a client, as the client sees it. */
struct hf_node {
    /* Set by the library. */
    uint32_t struct_size;
    char url[256]; /* without its password */
    int up;        /* 1 if the server can be reached */
    int settled;   /* 1 if it may vote; always 1 if it is the only server */
    int64_t quarantine_left_ms; /* time until it may vote; 0 if unknown */
    int status; /* HF_OK, or why the server cannot be reached, cannot be a
                 * member, or grants nothing because its clock is wrong */
    char text[HF_ERROR_TEXT_MAX]; /* the reason for `status`, without the URL
                                   * in front; or "" */
    int64_t clock_offset_ms;      /* its clock minus the median of all nodes */
    char identity[96]; /* quorum: identifies the server's run since its last
                        * start; "" if unknown */
    int durable;       /* quorum: 1 if its restarts lose nothing */
    int link;          /* enum hf_link */
};

/* Receives one server.  `node` is borrowed for the call. */
typedef void (*hf_node_fn)(const struct hf_node *node, void *user);

/**
 * Describe the servers behind a client: one server, or the members of its
 * quorum, in the order of the URL.
 *
 * @param client  borrowed
 * @param fn      called on this thread, once for each server; NULL: only count
 * @param user    passed to `fn` unchanged
 * @return number of servers; 0 in a forked child
 *
 * Threads: any.
 */
HF_API int hf_client_nodes(hf_client *client, hf_node_fn fn, void *user);

/**
 * Return the holder id of the calling thread.  No other thread of this process
 * has had it.  It is used where a holder is given as 0.
 *
 * @return 1 or more
 *
 * Threads: any.
 */
HF_API uint64_t hf_holder_self(void);

/**
 * Return a new holder id, for a hold that is passed from thread to thread.
 *
 * @return 1 or more, different at every call in this process
 *
 * Threads: any.
 */
HF_API uint64_t hf_holder_new(void);

/**
 * Return a file descriptor that is readable while hf_client_next_event() has
 * events.  Events are kept only after the first call of this function, and only
 * the newest 1,024 of them.
 *
 * @param client  borrowed
 * @return the fd, borrowed: poll it, never read or close it; -1 if
 *         memory or descriptors are exhausted, and in a forked child
 *
 * Threads: any.
 */
HF_API int hf_client_event_fd(hf_client *client);

/**
 * Remove the oldest change of state from the queue of events.
 *
 * @param client  borrowed
 * @param out     owned by the caller; HF_EVENT_INIT; filled on HF_OK
 * @return HF_OK       `out` is filled
 *         HF_EMPTY    no event is queued now, or this is a forked child
 *         HF_INVALID  struct_size is not set; the event stays in the queue
 *
 * Threads: any.
 */
HF_API int hf_client_next_event(hf_client *client, struct hf_event *out);

/**
 * Own-loop mode: return a file descriptor that is readable whenever
 * hf_client_process() has something to do, including timers.  It stays readable
 * until that is called.
 *
 * @param client  borrowed; opened with HF_CLIENT_OWN_LOOP
 * @return the fd, borrowed; it stays the same until hf_client_close(): remove
 *         it from the loop before.  -1 if the client has its own thread
 *
 * Threads: any.
 */
HF_API int hf_client_fd(hf_client *client);

/**
 * Own-loop mode: do what is due, without blocking, and run the callbacks.
 * Blocking calls work in this mode as well: they do the same while they wait.
 *
 * @param client  borrowed; opened with HF_CLIENT_OWN_LOOP
 * @return HF_OK       done
 *         HF_INVALID  the client is not in own-loop mode
 *         HF_FORKED   the client was opened by the parent of this process
 *
 * Threads: any, one at a time.
 */
HF_API int hf_client_process(hf_client *client);

/**
 * Own-loop mode, for loops that cannot poll a timer: return how long the loop
 * may sleep before it calls hf_client_process().
 *
 * @param client  borrowed
 * @return milliseconds; 0 if something is due; -1 if no timer is set
 *
 * Threads: any.
 */
HF_API int64_t hf_client_timeout_ms(hf_client *client);

/**
 * Create a token that can cancel any number of waits.
 *
 * @param client  borrowed
 * @param out     owned by the caller: hf_cancel_close(); closed with its client
 * @return HF_OK      created
 *         HF_NOMEM   out of memory
 *         HF_FORKED  the client was opened by the parent of this process
 *
 * Threads: any.
 */
HF_API int hf_cancel_open(hf_client *client, hf_cancel **out);

/**
 * Fire the token: every wait that uses it, now or later, ends with
 * HF_CANCELLED.  Async-signal-safe.
 *
 * @param cancel  borrowed
 *
 * Threads: any; signal handlers too.
 */
HF_API void hf_cancel_fire(hf_cancel *cancel);

/**
 * Reset a fired token, so that it can be used again.
 *
 * @param cancel  borrowed
 *
 * Threads: any.
 */
HF_API void hf_cancel_reset(hf_cancel *cancel);

/**
 * Free a token.  No wait may still use it.
 *
 * @param cancel  taken; NULL does nothing; its client must be open
 *
 * Threads: any.
 */
HF_API void hf_cancel_close(hf_cancel *cancel);

#ifdef __cplusplus
}
#endif
#endif
