/*
 * mutants.c: planted bugs.  The rule: a simulator that cannot find a bug we
 * know proves nothing about those we do not; so each must be found.
 *
 * The nine that the protocol's own prototype was tried with are among them:
 *   accept T >= counter      EQUAL_BALLOT      quorum - 1       MINORITY
 *   validity from the reply  VALIDITY_FROM_REPLY
 *   no quarantine            NO_QUARANTINE     owner id reused  ATTEMPT_REUSED
 *   no tombstone             NO_TOMBSTONE      no drift margin  NO_DRIFT_MARGIN
 *   a late renewal counts    LATE_RENEWAL
 *   a heal counts at once    HEAL_COUNTS
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/sim.h"

enum core_mutation hf__mutation;

#define IN_CORE(name, what)                                                    \
    {                                                                          \
#name, 0, CORE_MUT_##name, 0, what                                     \
    }
#define IN_STORE(name, what)                                                   \
    {                                                                          \
#name, 1, STORE_MUT_##name, 0, what                                    \
    }

#define IN_MODEL(name, what)                                                   \
    {                                                                          \
#name, 1, STORE_MUT_NONE, MODEL_MUT_##name, what                       \
    }

const struct mutant mutants[] = {
    {"NONE", 0, CORE_MUT_NONE, 0, "no bug but those we do not know"},
    IN_CORE(VALIDITY_FROM_REPLY, "validity counts from the answer"),
    IN_CORE(NO_DRIFT_MARGIN, "clocks are taken to run at one rate"),
    IN_CORE(LATE_RENEWAL, "a renewal that comes too late counts"),
    IN_CORE(ATTEMPT_REUSED, "the next attempt has the id of the last"),
    IN_CORE(RELEASE_ONCE, "a release in doubt is not repeated"),
    IN_CORE(DOUBT_FORGOTTEN, "an attempt in doubt is not released"),
    IN_CORE(RELEASE_NUMBERLESS, "a release does not carry our number"),
    IN_CORE(RELEASE_HASTY, "a release is repeated for the last lease only"),
    IN_CORE(EARLIER_FORGOTTEN, "a lower number's grant is not released"),
    IN_CORE(RISK_SILENT, "AT_RISK is never told"),
    IN_CORE(WAKE_IGNORED, "a waiter does not hear messages"),
    IN_CORE(WOKEN_FORGOTTEN, "a message during a try is forgotten"),
    IN_CORE(CANCEL_IGNORED, "a wait that is cancelled goes on"),
    IN_CORE(WAIT_UNBOUNDED, "a wait does not end at its deadline"),
    IN_CORE(LOST_AGAIN, "LOST is told once more at the release"),
    IN_CORE(FENCE_PROPOSED, "the token is what was proposed"),
    IN_CORE(MINORITY, "one vote less is enough"),
    IN_CORE(SHORTENED_UNSEEN, "a shorter lease in doubt is not believed"),
    IN_CORE(COUNT_KEPT, "an entry that failed counts"),
    IN_CORE(CAP_IGNORED, "a renewal passes the cap"),
    IN_CORE(CAP_MOVED, "an entry begins the cap anew"),
    IN_CORE(UNFED_RENEWED, "what is not fed is renewed"),
    IN_CORE(RELEASE_RENEWED, "the watchdog outlives the release"),
    IN_CORE(TOKEN_REUSED, "a hand-over keeps the token"),
    IN_CORE(PASS_LATE, "a hold is handed over after its end"),
    IN_CORE(BLOCK_UNRELEASED, "a release forgets the reserved tokens"),
    IN_STORE(BLOCK_FORGOTTEN, "a grant does not keep the reserved tokens"),
    IN_STORE(EQUAL_BALLOT, "T equal to the counter is accepted"),
    IN_STORE(COUNTER_KEPT, "a grant does not raise the counter"),
    IN_STORE(NO_WINDOW, "an old T is accepted"),
    IN_STORE(NO_TOMBSTONE, "a release does not raise the counter"),
    IN_STORE(COUNTER_AGED, "a node forgets its counter after a second"),
    IN_STORE(RENEW_ATTEMPT, "renew compares the owner only"),
    IN_STORE(RENEW_FENCE, "renew does not compare the token"),
    IN_STORE(RELEASE_ATTEMPT, "release compares the owner only"),
    IN_STORE(PROPOSE_ATTEMPT, "an owner's new attempt takes its lock over"),
    IN_STORE(GRANT_HELD, "granted although another owner has it"),
    IN_STORE(COUNT_ADDED, "the hold count is taken for an increment"),
    IN_STORE(REPEAT_MOVES, "a repeated proposal starts the lease anew"),
    IN_STORE(EXPIRED_RENEWED, "renew revives a lock whose lease is over"),
    IN_STORE(EARLY_EXPIRY, "a lease ends at nine tenths"),
    IN_STORE(NO_QUARANTINE, "a node that lost its data votes at once"),
    IN_STORE(NO_MARKER, "a node without a marker votes"),
    IN_CORE(HEAL_COUNTS, "a healed node votes in the same round"),
    IN_CORE(GONE_CONFIRMED, "a member that lost the hold stays confirmed"),
    IN_CORE(HALF, "half of the votes is enough"),
    IN_CORE(STEP_HASTY, "a slow answer is taken for a clock that was set"),
    IN_CORE(PLACE_KEPT, "a waiter that gives up does not leave the queue"),
    IN_CORE(HANDED_SHORT, "a short hand-over is taken for a whole lease"),
    IN_CORE(HANDED_LONG_AGO, "a hand-over by an earlier number counts"),
    IN_CORE(LEAVES_SURE, "a waiter that leaves forgets a proposal under way"),
    IN_CORE(FENCE_UNNAMED, "a renewal does not name its token"),
    IN_CORE(SUSPECT_VOTES, "a node whose clock was set forward votes"),
    IN_CORE(HOST_EAGER, "this host stands in for a store that speaks"),
    IN_CORE(HOST_UNSEEN, "the store's lock is kept beside the host's"),
    IN_CORE(HOST_KEPT, "the host's lock is kept beside the store's"),
    IN_CORE(REFUSAL_UNHEARD, "a refused renewal is taken for silence"),
    IN_CORE(ASK_UNDECIDED, "a minority's word is told as that of all nodes"),
    IN_CORE(ASK_COUNTER, "the counter is told as the holder's token"),
    IN_CORE(BREAK_BLIND, "what was broken is told to have been free"),
    IN_CORE(CLOSE_KEEPS, "what is held is kept by a close"),
    IN_CORE(CLOSE_SILENT, "what is under way goes on after a close"),
    IN_CORE(TICKET_REUSED, "detached holds of a client share one secret"),
    IN_CORE(TICKET_CLOSED, "what is detached is released by a close"),
    IN_STORE(QUEUE_LIFO, "the last in the queue is served first"),
    IN_STORE(QUEUE_BARGED, "other clients go before the queue"),
    IN_STORE(QUEUE_DEAD_SERVED, "the dead keep their places"),
    IN_STORE(QUEUE_LATE_JOINS, "what comes late gets a place"),
    IN_STORE(QUEUE_FORGETS, "a node forgets a waiter that has left in doubt"),
    IN_STORE(QUEUE_PLACE_LOST, "a waiter that asks again goes to the end"),
    IN_STORE(QUEUE_PLACE_STAYS, "the new holder stays in the queue"),
    IN_STORE(QUEUE_LEAVE_IGNORED, "a waiter that gives up keeps its place"),
    IN_STORE(QUEUE_NOT_GIVEN, "what is released is given to nobody"),
    IN_STORE(QUEUE_TOKEN_OLD, "what is given has the clock as its token"),
    IN_STORE(QUEUE_BREAK_FORGOTTEN, "a proposal from before a break joins"),
    IN_STORE(QUEUE_FORGETS_EARLY, "a number ahead of the clock is forgotten"),
    IN_STORE(PERMIT_OVERDRAWN, "more permits are given than there are"),
    IN_STORE(PERMIT_GONE, "a released attempt is granted permits later"),
    IN_STORE(PERMIT_REPEATED, "a repeated proposal gets permits once more"),
    IN_STORE(PERMIT_LOST, "permits that are released are not free again"),
    IN_STORE(PERMIT_BARGED, "permits are given past the queue"),
    IN_CORE(BOUND_IGNORED, "a lease is longer than its connection carries"),
    IN_MODEL(SESSION_MOVED, "an older connection of a session is served"),
    IN_MODEL(SESSION_SHORT, "a session ends at a third of its time-out"),
    IN_STORE(RW_RENEW_FENCE, "renew of a side does not compare the token"),
    IN_STORE(RW_BREAK_FLOOR, "a broken side's late proposal is granted"),
    IN_STORE(RW_RELEASE_FLOOR, "a released side's late proposal is granted"),
    IN_STORE(RW_READ_BARGED, "a reader is let in beside a writer"),
    IN_STORE(RW_WRITE_BARGED, "a writer is let in beside readers"),
    IN_STORE(RW_PLACE_STAYS, "a new reader or writer stays in the queue"),
    IN_STORE(RW_TOKEN_OLD, "a side's token is not above the last one"),
};
const int mutants_len = (int)(sizeof mutants / sizeof *mutants);

int mutant_find(const char *name)
{
    for (int i = 0; i < mutants_len; i++)
        if (!strcmp(mutants[i].name, name)) return i;
    return -1;
}

int mutant_is_rw(int which)
{
    return mutants[which].in_store && mutants[which].which >= STORE_MUT_RW;
}

void mutant_plant(struct sim *s)
{
    const struct mutant *m = &mutants[s->mutation];
    hf__mutation = m->in_store ? CORE_MUT_NONE : (enum core_mutation)m->which;
    for (int i = 0; i < s->k.nodes; i++)
        hf__rules_store_mutate(s->nodes[i].store,
                               m->in_store ? (enum store_mutation)m->which
                                           : STORE_MUT_NONE);
}

/* 1 if it was found. */
static int mutant_hunt(int which, uint64_t seeds_max, int nodes,
                       unsigned faults)
{
    struct sim *s = sim_new();
    uint64_t seed = 0;
    int found = 0;
    if (s) s->nodes_wanted = nodes;
    if (s) s->rw_wanted = mutant_is_rw(which);
    while (s && !found && seed < seeds_max)
        found = sim_run(s, ++seed, faults, which);
    if (found)
        printf("found  %-20s seed %-6llu %s\n", mutants[which].name,
               (unsigned long long)seed, s->reason);
    sim_delete(s);
    return found;
}

/* Nodes that lose their data and vote at once: two holders, or two equal
 * tokens, must be seen; with nothing else wrong but a slow network. */
int amnesia_main(uint64_t seeds_max)
{
    unsigned faults = FAULT_RESTART | FAULT_WIPE | FAULT_SPIKE;
    int found = 0;
    for (int nodes = 3; nodes <= SIM_NODES_MAX; nodes += 2)
        found +=
            mutant_hunt(mutant_find("NO_QUARANTINE"), seeds_max, nodes, faults);
    printf("%d passed, %d failed\n", found, 2 - found);
    return found == 2 ? 0 : 1;
}

/* In a child: an assertion of the engine's own is a find as well. */
static int child_hunt(int which, uint64_t seeds_max)
{
    int status = 0;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        int found = mutant_hunt(which, seeds_max, 0, FAULTS_ALL);
        fflush(stdout);
        _exit(found ? 0 : 1);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0) return 0;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) {
        printf("found  %-20s by an assertion\n", mutants[which].name);
        return 1;
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int mutants_main(uint64_t seeds_max)
{
    int missed = 0;
    for (int i = 1; i < mutants_len; i++) {
        if (child_hunt(i, seeds_max)) continue;
        missed++;
        printf("MISSED %-20s within %llu seeds: %s\n", mutants[i].name,
               (unsigned long long)seeds_max, mutants[i].what);
    }
    printf("%d passed, %d failed\n", mutants_len - 1 - missed, missed);
    return missed;
}
