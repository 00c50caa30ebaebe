/*
 * mutation.h: bugs for the simulator to find, one at a time.
 *
 * The rule: without HF_MUTATIONS, as in the library, MUTATED() is a constant 0
 * and nothing of this is compiled; test/sim compiles its own copy with them.
 */
#ifndef HF_CORE_MUTATION_H
#define HF_CORE_MUTATION_H

enum core_mutation {
    CORE_MUT_NONE,
    CORE_MUT_VALIDITY_FROM_REPLY, /* validity counts from the answer */
    CORE_MUT_NO_DRIFT_MARGIN,     /* clocks are taken to run at one rate */
    CORE_MUT_LATE_RENEWAL,        /* a renewal that comes too late counts */
    CORE_MUT_ATTEMPT_REUSED,      /* the next attempt has the last one's id */
    CORE_MUT_RELEASE_ONCE,        /* a release in doubt is not repeated */
    CORE_MUT_DOUBT_FORGOTTEN,     /* an attempt in doubt is not released */
    CORE_MUT_RELEASE_NUMBERLESS,  /* a release does not carry a number */
    CORE_MUT_RELEASE_HASTY,       /* a release is given up by the last lease */
    CORE_MUT_EARLIER_FORGOTTEN,   /* no release where a lower T was granted */
    CORE_MUT_RISK_SILENT,         /* AT_RISK is never told */
    CORE_MUT_WAKE_IGNORED,        /* a waiter does not hear messages */
    CORE_MUT_WOKEN_FORGOTTEN,     /* a message during a try is forgotten */
    CORE_MUT_CANCEL_IGNORED,      /* a wait that is cancelled goes on */
    CORE_MUT_WAIT_UNBOUNDED,      /* a wait does not end at its deadline */
    CORE_MUT_LOST_AGAIN,          /* LOST is told once more at the release */
    CORE_MUT_FENCE_PROPOSED,      /* the token is the number proposed */
    CORE_MUT_MINORITY,            /* one vote less is enough */
    CORE_MUT_SHORTENED_UNSEEN,    /* a shorter lease in doubt is ignored */
    CORE_MUT_TOKEN_REUSED,        /* a hand-over keeps the token */
    CORE_MUT_PASS_LATE,           /* a hold is handed over after its end */
    CORE_MUT_BLOCK_UNRELEASED,    /* a release forgets the reserved tokens */
    CORE_MUT_COUNT_KEPT,          /* an entry that failed counts */
    CORE_MUT_CAP_IGNORED,         /* a renewal passes the cap */
    CORE_MUT_CAP_MOVED,           /* an entry begins the cap anew */
    CORE_MUT_UNFED_RENEWED,       /* a hold that is not fed is renewed */
    CORE_MUT_RELEASE_RENEWED,     /* the watchdog outlives the release */
    CORE_MUT_HEAL_COUNTS,         /* a healed node votes in the same round */
    CORE_MUT_GONE_CONFIRMED,      /* a member that lost the hold votes */
    CORE_MUT_HALF,                /* half of the votes is enough */
    CORE_MUT_STEP_HASTY,          /* a slow answer is taken for a set clock */
    CORE_MUT_PLACE_KEPT,          /* a waiter gives up and keeps its place */
    CORE_MUT_HANDED_SHORT,        /* a hand-over counts for a whole lease */
    CORE_MUT_HANDED_LONG_AGO,     /* a hand-over by an earlier number counts */
    CORE_MUT_LEAVES_SURE,         /* a proposal under way is forgotten */
    CORE_MUT_FENCE_UNNAMED,       /* a renewal does not name its token */
    CORE_MUT_SUSPECT_VOTES,       /* a node whose clock was set votes */
    CORE_MUT_HOST_EAGER,          /* the host is used while the store answers */
    CORE_MUT_HOST_UNSEEN,         /* the store's grant overlooks the host's */
    CORE_MUT_HOST_KEPT,           /* the host's grant overlooks the store's */
    CORE_MUT_REFUSAL_UNHEARD,     /* a refused renewal is taken for silence */
    CORE_MUT_ASK_UNDECIDED,       /* a minority's word is told as all nodes' */
    CORE_MUT_ASK_COUNTER,         /* the counter is told as the token */
    CORE_MUT_BREAK_BLIND,         /* what was broken is told to be free */
    CORE_MUT_CLOSE_KEEPS,         /* what is held is kept by a close */
    CORE_MUT_CLOSE_SILENT,        /* what is under way goes on after it */
    CORE_MUT_TICKET_REUSED,       /* detached holds share one secret */
    CORE_MUT_TICKET_CLOSED,       /* what is detached is released by a close */
    CORE_MUT_BOUND_IGNORED        /* a lease may be longer than the bound */
};

#ifdef HF_MUTATIONS
extern enum core_mutation hf__mutation; /* the simulator's */
#define MUTATED(which) (hf__mutation == CORE_MUT_##which)
#else
#define MUTATED(which) 0
#endif

#endif
