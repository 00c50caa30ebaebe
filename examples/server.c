/*
 * server.c: a server with one poll(2) and no thread.  Each connection gets the
 * next number, drawn under a lock that all copies of the server share.
 *
 *     ./server URL PORT [COUNT]      ends after COUNT connections
 */
#include <arpa/inet.h>
#include <err.h>
#include <holdfast/holdfast.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long left = 1000; /* connections to answer */

/* The lock is held.  If not, `hold` is NULL: fence 0, nothing to release. */
static void on_turn(hf_lock *lock, int status, hf_hold *hold,
                    const struct hf_error *error, void *user)
{
    int caller = (int)(intptr_t)user;
    if (status != HF_OK) warnx("%s: %s", hf_lock_name(lock), error->text);
    dprintf(caller, "%llu\n", (unsigned long long)hf_hold_fence(hold));
    hf_hold_release_start(hold, NULL, NULL, NULL);
    close(caller);
    left--;
}

int main(int argc, char **argv)
{
    struct hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    struct sockaddr_in at = {.sin_family = AF_INET};
    struct hf_error error;
    hf_client *client;
    hf_lock *lock;
    int door = socket(AF_INET, SOCK_STREAM, 0);
    if (argc < 3) errx(64, "usage: server URL PORT [COUNT]");
    if (argc > 3) left = strtol(argv[3], NULL, 10);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons((uint16_t)strtoul(argv[2], NULL, 10));
    if (bind(door, (void *)&at, sizeof at) != 0 || listen(door, 64) != 0)
        err(1, "port %s", argv[2]);
    options.flags = HF_CLIENT_OWN_LOOP;
    if (hf_client_open(argv[1], &options, &client, &error) != HF_OK
        || hf_lock_open(client, "number", &lock, &error) != HF_OK)
        errx(1, "%s", error.text);
    struct pollfd fds[] = {{hf_client_fd(client), POLLIN, 0},
                           {door, POLLIN, 0}};
    while (left > 0 && poll(fds, 2, -1) > 0) {
        hf_client_process(client);
        if (fds[1].revents == 0) continue;
        void *caller = (void *)(intptr_t)accept(door, NULL, NULL);
        if (hf_lock_acquire_start(lock, NULL, on_turn, caller, &error) != HF_OK)
            errx(1, "%s", error.text);
    }
    hf_client_close(client); /* gives back what is still held */
    return left > 0;
}
