/*
 * event.c: server.c on libevent.  The client is one more descriptor of the
 * loop.
 *
 *     ./event URL PORT [COUNT]      ends after COUNT connections
 */
#include <arpa/inet.h>
#include <err.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <holdfast/holdfast.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct event_base *base;
static long left = 1000; /* connections to answer */

static void on_ready(evutil_socket_t fd, short what, void *client)
{
    (void)fd, (void)what;
    hf_client_process(client);
}

static void on_turn(hf_lock *lock, int status, hf_hold *hold,
                    const struct hf_error *error, void *user)
{
    int caller = (int)(intptr_t)user;
    if (status != HF_OK) warnx("%s: %s", hf_lock_name(lock), error->text);
    dprintf(caller, "%llu\n", (unsigned long long)hf_hold_fence(hold));
    hf_hold_release_start(hold, NULL, NULL, NULL);
    close(caller);
    if (--left <= 0) event_base_loopbreak(base);
}

static void on_connection(struct evconnlistener *door, evutil_socket_t caller,
                          struct sockaddr *from, int from_len, void *lock)
{
    (void)door, (void)from, (void)from_len;
    if (hf_lock_acquire_start(lock, NULL, on_turn, (void *)(intptr_t)caller,
                              NULL)
        != HF_OK)
        close(caller);
}

int main(int argc, char **argv)
{
    struct hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    struct sockaddr_in at = {.sin_family = AF_INET};
    struct hf_error error;
    hf_client *client;
    hf_lock *lock;
    if (argc < 3) errx(64, "usage: event URL PORT [COUNT]");
    if (argc > 3) left = strtol(argv[3], NULL, 10);
    options.flags = HF_CLIENT_OWN_LOOP;
    if (hf_client_open(argv[1], &options, &client, &error) != HF_OK
        || hf_lock_open(client, "number", &lock, &error) != HF_OK)
        errx(1, "%s", error.text);

    base = event_base_new();
    struct event *ready = event_new(base, hf_client_fd(client),
                                    EV_READ | EV_PERSIST, on_ready, client);
    event_add(ready, NULL);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons((uint16_t)strtoul(argv[2], NULL, 10));
    struct evconnlistener *door = evconnlistener_new_bind(
        base, on_connection, lock, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_REUSEABLE,
        64, (struct sockaddr *)&at, (int)sizeof at);
    if (!door) err(1, "port %s", argv[2]);
    event_base_dispatch(base);
    evconnlistener_free(door);
    event_free(ready); /* before hf_client_close(), whose descriptor it has */
    event_base_free(base);
    hf_client_close(client);
    return 0;
}
