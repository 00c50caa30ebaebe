/*
 * limits.h: every bound and every default, in one place.
 */
#ifndef HF_BASE_LIMITS_H
#define HF_BASE_LIMITS_H

#include <stdint.h>

#define US_PER_MS INT64_C(1000)
#define US_PER_S INT64_C(1000000)
#define TIME_NEVER INT64_MAX

#define NODES_MAX 16              /* members of a quorum */
#define CLUSTER_NODES_MAX 512     /* of one cluster that we talk to */
#define NAME_LEN_MAX 512          /* bytes of a lock's name */
#define OWNER_LEN_MAX 64          /* "<uuid>:<holder>" */
#define URL_LEN_MAX 2048          /* bytes of a URL */
#define HOLD_COUNT_MAX 1000000000 /* re-entries of one hold */
#define LIST_PAGES_MAX 4194304    /* of one store, before a list is ended */

#define LEASE_MS_DEFAULT 30000
#define TIMEOUT_MS_DEFAULT 2000  /* one answer */
#define PATIENCE_MS_DEFAULT 2000 /* no answer at all: UNAVAILABLE */
#define TIME_OPTION_MS_MAX 86400000
#define DRIFT_PPM_DEFAULT 10000 /* 1 % */
#define DRIFT_PPM_MAX 500000
#define DRIFT_FLOOR_US 2000             /* and 2 ms: the clocks' granularity */
#define BALLOT_WINDOW_US (2 * US_PER_S) /* W: how old a number may be */
#define VALUE_SKEW_US (100 * US_PER_MS) /* a write's age beyond its timeout */
/* No quarantine of a node is shorter: W, twice the clocks' error, and more. */
#define QUARANTINE_US_MIN (BALLOT_WINDOW_US + 510 * US_PER_MS)
#define BALLOT_MAX INT64_C(9007199250000000) /* Lua counts in doubles */
#define REBALLOTS_MAX 2                      /* new numbers per attempt */
#define PROPOSE_US_MAX (250 * US_PER_MS)     /* one node of several answers */
#define QUORUM_LEASE_MS_DEFAULT 30000    /* longest, unless init says more */
#define QUORUM_SKEW_US (250 * US_PER_MS) /* between the nodes' clocks */
#define RELEASES_MAX 128 /* kept for a node that cannot be reached */
#define MARGIN_FLOOR_US (50 * US_PER_MS)
#define RENEW_US_MIN (5 * US_PER_MS) /* no renewal is given up sooner */
#define SPIN_US_DEFAULT 50
#define SPIN_US_MAX 10000
#define SLEEP_US_MAX (5 * US_PER_S)   /* a waiter looks at least so often */
#define POLL_US_MIN (2 * US_PER_MS)   /* without wake-ups: first look */
#define POLL_US_MAX (250 * US_PER_MS) /* and the longest pause between looks */
/* A turn that comes with less of the wait left may be too late for an answer,
 * of a store that is well. */
#define TURN_LATE_US (100 * US_PER_MS)
/* A queue in the store.  A waiter asks again every PLACE_POLL_US, and loses its
 * place after PLACE_US without asking: longer than W, so that a proposal that
 * comes late finds its record, or is too old.  A lock that is handed over waits
 * QUEUE_HANDOFF_US for the waiter to ask for it; but a waiter that has asked
 * within QUEUE_FRESH_US before the release gets it for its lease, as if that
 * was the answer.  The scripts of Redis have the same numbers. */
#define PLACE_POLL_US US_PER_S
#define PLACE_US (3 * US_PER_S)
#define QUEUE_HANDOFF_US (1500 * US_PER_MS)
#define QUEUE_FRESH_US (10 * US_PER_MS)
#define BARRIER_KEPT_MS 30000  /* parties that went on are kept */
#define BARRIER_IDLE_MS 60000  /* a barrier that nobody uses ends */
#define LATCH_DELETED_MS 60000 /* a deletion is remembered */
#define BACKOFF_US_MIN (1 * US_PER_MS)
#define BACKOFF_US_MAX (200 * US_PER_MS)
#define RECONNECT_US_MIN (10 * US_PER_MS)
#define RECONNECT_US_MAX (2 * US_PER_S)
#define LULL_US (20 * US_PER_MS)      /* late answers may lie unread */
#define LISTEN_US (300 * US_PER_MS)   /* idle time before listening */
#define AGAIN_US_MIN (20 * US_PER_MS) /* before a release is repeated */
#define HANDOVER_MAX 1024 /* hand-overs in a row that may be asked for */
#define HANDOVER_MS_DEFAULT 50
#define LOCAL_TURNS_MAX 16 /* hand-overs in the process before others */
#define GRACE_US_MIN 500   /* left to them then, and two round trips */
#define GRACE_US_MAX (20 * US_PER_MS)
#define GRACE_LOOK_US_MIN 1500 /* the same, to waiters that may have to look */
#define GRACE_LOOK_US_MAX (50 * US_PER_MS)
#define EVENTS_MAX 1024 /* kept for hf_client_next_event() */
#define UPDATE_PAUSE_US_MIN (1 * US_PER_MS)
#define UPDATE_PAUSE_US_MAX (100 * US_PER_MS)
#define ONCE_KEEP_MS_DEFAULT 86400000 /* how long a run is remembered */
#define ONCE_DOUBTS_MAX 64            /* begins without an answer, per client */

#endif
