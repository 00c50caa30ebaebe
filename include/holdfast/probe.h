/*
 * holdfast/probe.h: how the servers behind a URL are set up, and how their
 * clocks run.
 *
 *     hf_probe *probe;
 *     char policy[64];
 *     if (hf_probe_open("redis://127.0.0.1", NULL, &probe, &err) == HF_OK) {
 *         const struct hf_probe_node *node = hf_probe_node(probe, 0);
 *         if (hf_probe_fact(node, "maxmemory_policy", policy, sizeof policy))
 *             puts(policy);
 *         hf_probe_close(probe);
 *     }
 *
 * What a lock can promise depends on how its servers are set up.
 * hf_probe_open() asks them, one after the other, and changes nothing there;
 * `holdfast doctor` judges the answers.  The call is meant for tools, and
 * blocks.
 */
#ifndef HOLDFAST_PROBE_H
#define HOLDFAST_PROBE_H

#include "quorum.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HF_PROBE_SAMPLE_MS_MAX 3600000 /* highest sample_ms */

/* What the servers behind a URL have answered. */
typedef struct hf_probe hf_probe;

/* How to probe.  Zero is every field's default. */
struct hf_probe_options {
    uint32_t struct_size; /* set by HF_PROBE_OPTIONS_INIT */
    uint32_t flags;       /* must be 0 */
    int64_t sample_ms;    /* how long the clocks are sampled; 0: one sample,
                           * which gives no rate */
    int64_t timeout_ms;   /* longest wait for one node; 0: 2 s */
    const char *user;     /* borrowed; as in struct hf_client_options */
    const char *password; /* borrowed */
    const char *password_file; /* borrowed */
};
#define HF_PROBE_OPTIONS_INIT                                                  \
    {                                                                          \
        sizeof(struct hf_probe_options), 0, 0, 0, 0, 0, 0                      \
    }
static inline void hf_probe_options_init(struct hf_probe_options *options)
{
    const struct hf_probe_options init = HF_PROBE_OPTIONS_INIT;
    *options = init;
}

/* How a node relates to the quorum that the URL names. */
enum hf_probe_member {
    HF_PROBE_ALONE = 0, /* the URL does not name a quorum */
    HF_PROBE_UNKNOWN,   /* it did not answer, or cannot be a member: see text */
    HF_PROBE_UNMARKED,  /* it has no marker: it is new, or was wiped */
    HF_PROBE_OURS,      /* it is a member of this quorum */
    HF_PROBE_OTHERS     /* it is a member of another quorum */
};

/* One server. */
struct hf_probe_node {
    /* Set by the library. */
    uint32_t struct_size;
    char url[256]; /* without its password */
    int status;    /* HF_OK, or why it cannot be asked or be a member */
    char text[HF_ERROR_TEXT_MAX]; /* the reason for `status`; "" for HF_OK */
    int answers;                  /* 1 if it answered and the fields below are
                                   * known */
    int64_t rtt_us;               /* shortest round trip */
    int samples;                  /* samples of its clock; 0 if it has none */
    int64_t offset_us;      /* its clock minus this host's clock, with an error
                             * of up to rtt_us / 2 */
    int64_t skew_us;        /* its clock minus the median of all nodes */
    int64_t rate_ppm;       /* rate of its clock minus rate of this host's */
    int64_t rate_error_ppm; /* error of rate_ppm; 0 if it was not measured */
    int64_t step_us;        /* largest clock jump that was seen; 0 if none */
    int member;             /* enum hf_probe_member */
    int64_t votes_in_ms;    /* quorum: time until it may vote; 0: it may now */
    int64_t max_lease_ms;   /* quorum: longest lease, from its marker */
    int durable;            /* quorum: 1 if its restarts lose nothing */
    char identity[96];      /* quorum: identifies its run since its last start;
                             * "" if unknown */
    const char *facts;      /* "name:value\n"...; hf_probe_fact() */
};

/**
 * Ask the servers behind a URL how they are set up.
 *
 * @param url      as for hf_client_open(); borrowed; NULL means "file:"
 * @param options  borrowed; NULL means all defaults
 * @param out      the answers, owned by the caller: hf_probe_close()
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK           `out` is filled; the status of a node says if it did
 *                         not answer
 *         HF_INVALID      the URL or an option is not valid
 *         HF_UNSUPPORTED  the URL does not name a quorum, and its backend is
 *                         not built in or not installed
 *         HF_DENIED       the URL does not name a quorum, and its directory or
 *                         a file cannot be used
 *         HF_NOMEM        out of memory
 *
 * Threads: any; blocks for sample_ms, and for up to twice timeout_ms for each
 * node that does not answer.
 */
HF_API int hf_probe_open(const char *url,
                         const struct hf_probe_options *options, hf_probe **out,
                         struct hf_error *err);

/**
 * Free the answers, with all nodes.
 *
 * @param probe  taken; NULL does nothing
 *
 * Threads: any.
 */
HF_API void hf_probe_close(hf_probe *probe);

/**
 * Return the number of nodes: of one server 1, of a quorum its members, of a
 * cluster its masters, at most HF_QUORUM_NODES_MAX.
 *
 * @param probe  borrowed
 * @return 1 or more
 *
 * Threads: any.
 */
HF_API int hf_probe_len(const hf_probe *probe);

/**
 * Return one node.
 *
 * @param probe  borrowed
 * @param i      0 to hf_probe_len() - 1, in the order of the URL
 * @return borrowed until hf_probe_close(); NULL if there is no such node
 *
 * Threads: any.
 */
HF_API const struct hf_probe_node *hf_probe_node(const hf_probe *probe, int i);

/**
 * Return how many members of the quorum must agree.
 *
 * @param probe  borrowed
 * @return 0 if this is not a quorum
 *
 * Threads: any.
 */
HF_API int hf_probe_quorum(const hf_probe *probe);

/**
 * Return the clock rate error that the URL allows for.
 *
 * @param probe  borrowed
 * @return parts per million
 *
 * Threads: any.
 */
HF_API int64_t hf_probe_drift_ppm(const hf_probe *probe);

/**
 * Return whether a cluster has more masters, which were not asked.
 *
 * @param probe  borrowed
 * @return 1 or 0
 *
 * Threads: any.
 */
HF_API int hf_probe_left_out(const hf_probe *probe);

/**
 * Return one fact that a node reports.
 *
 * On Redis the facts are
 *   - lines of INFO: redis_version, valkey_version, redis_mode, role,
 *     master_host, master_port, connected_slaves, min_slaves_good_slaves,
 *     maxmemory, maxmemory_policy, used_memory, evicted_keys, aof_enabled,
 *     aof_last_write_status, uptime_in_seconds;
 *   - settings: appendfsync, no-appendfsync-on-rewrite, save,
 *     min-replicas-to-write, min-replicas-max-lag;
 *   - "info" or "config", with the value "denied" if the server refuses that
 *     command;
 *   - endpoint: the server's own address, also behind Sentinels;
 *   - wait and wait_renew: the options of the URL;
 *   - quorum_of: how many members the server's quorum has;
 *   - host, of a member: the host that the URL names, even if the server does
 *     not answer.
 * A database tells quorum_of, too.
 * On file: the facts are engine, filesystem, shared (1 if several hosts may
 * share it) and directory.
 *
 * @param node  borrowed
 * @param name  borrowed
 * @param out   owned by the caller; filled with the value and a NUL, "" if the
 *              fact is not known
 * @param size  bytes in `out`, at least 1; a longer value is truncated
 * @return 1 if the fact is known, otherwise 0
 *
 * Threads: any.
 */
HF_API int hf_probe_fact(const struct hf_probe_node *node, const char *name,
                         char *out, size_t size);

#ifdef __cplusplus
}
#endif

#endif
