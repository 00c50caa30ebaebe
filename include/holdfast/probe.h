/*
 * holdfast/probe.h: what the servers behind a URL say of themselves, and how
 * their clocks run.
 *
 * What a lock can promise depends on how its servers are set up.  This call
 * asks them, one after the other, and changes nothing there; `holdfast doctor`
 * judges what they said.  It is for tools, and blocks.
 */
#ifndef HOLDFAST_PROBE_H
#define HOLDFAST_PROBE_H

#include "quorum.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HF_PROBE_FACTS_MAX 2048 /* bytes of all facts of a node */
#define HF_PROBE_SAMPLE_MS_MAX 3600000

/* How to do it.  Zero is every field's default. */
struct hf_probe_options {
    uint32_t struct_size; /* set by HF_PROBE_OPTIONS_INIT */
    uint32_t flags;       /* none so far */
    int64_t sample_ms;    /* how long the clocks are looked at; 0: one look,
                           * and no rate */
    int64_t timeout_ms;   /* longest wait for one node; 0: 2 s */
    const char *user;     /* borrowed; as in struct hf_client_options */
    const char *password; /* borrowed */
    const char *password_file; /* borrowed */
};
#define HF_PROBE_OPTIONS_INIT                                                  \
    {                                                                          \
        sizeof(struct hf_probe_options), 0, 0, 0, 0, 0, 0                      \
    }

/* What a node is to the quorum that the URL names. */
enum hf_probe_member {
    HF_PROBE_ALONE = 0, /* the URL names no quorum */
    HF_PROBE_UNKNOWN,   /* it did not say, or may not be one: see `text` */
    HF_PROBE_UNMARKED,  /* it has no marker: new, or wiped */
    HF_PROBE_OURS,      /* a member of this very quorum */
    HF_PROBE_OTHERS     /* a member of another one */
};

/* One server. */
struct hf_probe_node {
    char url[256]; /* without its password */
    int status;    /* HF_OK; why it cannot be asked, or be a member */
    char text[HF_ERROR_TEXT_MAX]; /* the sentence, "" for HF_OK */
    int answers;                  /* 1: it answered; what is below is known */
    int64_t rtt_us;               /* the shortest round trip */
    int samples;                  /* of its clock; 0: it tells no time */
    int64_t offset_us;      /* its clock minus this host's, give or take half of
                        * rtt_us */
    int64_t skew_us;        /* and minus the median of all nodes' */
    int64_t rate_ppm;       /* how much faster its clock ran than ours */
    int64_t rate_error_ppm; /* give or take; 0: it was not measured */
    int64_t step_us;        /* the largest jump that was seen; 0: none */
    int member;             /* enum hf_probe_member */
    int64_t votes_in_ms;    /* a quorum's: it may vote after so long; 0 now */
    int64_t max_lease_ms;   /* a quorum's: longest lease, as its marker says */
    int durable;            /* a quorum's: its restarts lose nothing */
    char identity[96];      /* a quorum's: of this life of it; "" unknown */
    char facts[HF_PROBE_FACTS_MAX]; /* "name:value\n"...; hf_probe_fact() */
};

/* All of them. */
struct hf_probe {
    int len;           /* how many there are */
    int quorum;        /* how many of them must agree; 0: it is no quorum */
    int64_t drift_ppm; /* the rate error that the URL allows for */
    struct hf_probe_node nodes[HF_QUORUM_NODES_MAX]; /* of a cluster: its
                                                      * masters */
    int left_out; /* 1: a cluster has more of them, which were not asked */
};

/**
 * Ask the servers behind a URL what they are.
 *
 * @param url      as for hf_client_open(); borrowed; NULL means "file:"
 * @param options  borrowed; NULL means all defaults
 * @param out      owned by the caller; filled
 * @param err      filled on failure; may be NULL
 *
 * @return HF_OK           asked; a node that did not answer says so itself
 *         HF_INVALID      a bad URL or option
 *         HF_UNSUPPORTED, HF_DENIED, HF_NOMEM: as hf_client_open(), for a URL
 *                         that names no quorum
 *
 * Threads: any; blocks for the time of the options, and for up to twice the
 * timeout for each node that does not answer.
 */
HF_API int hf_probe(const char *url, const struct hf_probe_options *options,
                    struct hf_probe *out, struct hf_error *err);

/**
 * One thing that a node said of itself.  On Redis these are lines of INFO
 * (redis_version, valkey_version, redis_mode, role, master_host, master_port,
 * connected_slaves, min_slaves_good_slaves, maxmemory, maxmemory_policy,
 * used_memory, evicted_keys, aof_enabled, aof_last_write_status,
 * uptime_in_seconds) and settings (appendfsync, no-appendfsync-on-rewrite,
 * save, min-replicas-to-write, min-replicas-max-lag); "info" or "config" is
 * "denied" if it may not be asked.  Besides: endpoint, the server's own
 * address, also behind Sentinels; wait and wait_renew, as the URL says;
 * quorum_of, how many members the quorum has to which the server belongs; host,
 * of a member: the host that the URL names, also if it does not answer.  On
 * file: engine, filesystem, shared (1: hosts may share it) and directory.
 *
 * @param node  borrowed
 * @param name  borrowed
 * @param out   the value, with a NUL behind it; "" if it is not known
 * @param size  of `out`, at least 1; what does not fit is cut
 * @return 1 if it is known, else 0
 *
 * Threads: any.
 */
HF_API int hf_probe_fact(const struct hf_probe_node *node, const char *name,
                         char *out, size_t size);

#ifdef __cplusplus
}
#endif

#endif
