/*
 * elect.c: one of all copies leads and publishes where it is; the others wait
 * for their turn.
 *
 *     ./elect [URL [ADDRESS]]      resigns when Enter is pressed
 */
#include <holdfast/holdfast.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void leader_show(hf_election *election)
{
    struct hf_leader leader = HF_LEADER_INIT;
    if (hf_election_look(election, &leader, NULL) != HF_OK) return;
    if (leader.is_led)
        printf("led by pid %lld, at %s\n", (long long)leader.pid,
               leader.data ? leader.data : "an address not yet published");
    fflush(stdout);
    hf_leader_free(election, &leader);
}

static int lead(hf_election *election, const char *address,
                struct hf_error *err)
{
    struct hf_campaign_options options = HF_CAMPAIGN_OPTIONS_INIT;
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    hf_hold *hold; /* the election's: resigning ends it */
    options.value = address;
    options.value_len = strlen(address);
    int status = hf_election_campaign(election, &options, &hold, err);
    if (status != HF_OK) return status;
    printf("leading, fence %llu\n", (unsigned long long)hf_hold_fence(hold));
    fflush(stdout);
    /* What only the leader may do; worker.c shows what each write needs. */
    while (hf_hold_state(hold) == HF_STATE_HELD && poll(&input, 1, 50) == 0)
        ;
    return hf_election_resign(election, err);
}

int main(int argc, char **argv)
{
    struct hf_error err = {0};
    hf_client *client = NULL;
    hf_election *election = NULL;
    int status = hf_client_open(argc > 1 ? argv[1] : NULL, NULL, &client, &err);
    if (status == HF_OK)
        status = hf_election_open(client, "leader", NULL, &election, &err);
    if (status == HF_OK) leader_show(election);
    if (status == HF_OK)
        status = lead(election, argc > 2 ? argv[2] : "127.0.0.1:80", &err);
    if (status != HF_OK) fprintf(stderr, "elect: %s\n", err.text);
    hf_election_close(election);
    hf_client_close(client);
    return status == HF_OK ? 0 : 1;
}
