/*
 * elect.c: of all that run this, one leads; the others wait for their turn and
 * see where the leader is.
 *
 *     ./elect 10.0.0.5:80                     among those on this host
 *     ./elect 10.0.0.5:80 redis://127.0.0.1   among all hosts
 */
#include <holdfast/holdfast.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static atomic_int must_stop;

/* Told before the lease can end: stop what only the leader may do. */
static void on_state(hf_election *election, const struct hf_event *ev,
                     void *user)
{
    (void)election;
    (void)user;
    if (ev->state == HF_STATE_AT_RISK || ev->state == HF_STATE_LOST)
        atomic_store(&must_stop, 1);
}

static void leader_show(hf_election *election)
{
    struct hf_leader leader;
    if (hf_election_look(election, &leader, NULL) != HF_OK || !leader.is_led)
        return;
    printf("led by %s pid %lld, at %s\n", leader.host, (long long)leader.pid,
           leader.data ? leader.data : "an unknown address");
    hf_leader_free(election, &leader);
}

static int lead(hf_election *election, const char *address,
                struct hf_error *err)
{
    struct hf_campaign_options options = HF_CAMPAIGN_OPTIONS_INIT;
    hf_hold *hold;
    options.value = address;
    options.value_len = strlen(address);
    leader_show(election);
    int status = hf_election_campaign(election, &options, &hold, err);
    if (status != HF_OK) return status;
    printf("leading, fence %llu\n", (unsigned long long)hf_hold_fence(hold));
    /* ... send the fence with every write ... */
    for (int i = 0; i < 3 && !atomic_load(&must_stop); i++)
        printf("work of the leader, step %d\n", i);
    return hf_election_resign(election, err);
}

int main(int argc, char **argv)
{
    struct hf_election_options options = HF_ELECTION_OPTIONS_INIT;
    hf_client *client = NULL;
    hf_election *election = NULL;
    struct hf_error err = {0};
    if (argc < 2) {
        fprintf(stderr, "usage: elect ADDRESS [URL]\n");
        return 64;
    }
    options.on_state = on_state;
    int status = hf_client_open(argc > 2 ? argv[2] : NULL, NULL, &client, &err);
    if (status == HF_OK)
        status = hf_election_open(client, "example", &options, &election, &err);
    if (status == HF_OK) status = lead(election, argv[1], &err);
    if (status != HF_OK) fprintf(stderr, "elect: %s\n", err.text);
    hf_election_close(election);
    hf_client_close(client);
    return status == HF_OK ? 0 : 1;
}
