/*
 * uv.c: server.c on libuv.  The client is one more descriptor of the loop.
 *
 *     ./uv URL PORT [COUNT]      ends after COUNT connections
 */
#include <err.h>
#include <holdfast/holdfast.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

static uv_tcp_t door;
static uv_poll_t ready; /* the client has something to do */
static long left = 1000;

static void on_ready(uv_poll_t *handle, int status, int events)
{
    (void)status, (void)events;
    hf_client_process(handle->data);
}

static void on_closed(uv_handle_t *caller)
{
    free(caller);
    if (--left > 0) return;
    uv_close((uv_handle_t *)&ready, NULL); /* before hf_client_close() */
    uv_close((uv_handle_t *)&door, NULL);
}

static void on_turn(hf_lock *lock, int status, hf_hold *hold,
                    const struct hf_error *error, void *caller)
{
    char line[32];
    if (status != HF_OK) warnx("%s: %s", hf_lock_name(lock), error->text);
    int len = snprintf(line, sizeof line, "%llu\n",
                       (unsigned long long)hf_hold_fence(hold));
    uv_buf_t text = uv_buf_init(line, (unsigned)len);
    uv_try_write(caller, &text, 1);
    hf_hold_release_start(hold, NULL, NULL, NULL);
    uv_close(caller, on_closed);
}

static void on_connection(uv_stream_t *stream, int status)
{
    uv_tcp_t *caller = malloc(sizeof *caller);
    if (status != 0 || !caller) errx(1, "no connection");
    uv_tcp_init(stream->loop, caller);
    if (uv_accept(stream, (uv_stream_t *)caller) != 0
        || hf_lock_acquire_start(stream->data, NULL, on_turn, caller, NULL)
               != HF_OK)
        uv_close((uv_handle_t *)caller, on_closed);
}

int main(int argc, char **argv)
{
    struct hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    struct sockaddr_in at;
    struct hf_error error;
    hf_client *client;
    hf_lock *lock;
    if (argc < 3) errx(64, "usage: uv URL PORT [COUNT]");
    if (argc > 3) left = strtol(argv[3], NULL, 10);
    options.flags = HF_CLIENT_OWN_LOOP;
    if (hf_client_open(argv[1], &options, &client, &error) != HF_OK
        || hf_lock_open(client, "number", &lock, &error) != HF_OK)
        errx(1, "%s", error.text);

    uv_poll_init(uv_default_loop(), &ready, hf_client_fd(client));
    ready.data = client;
    uv_poll_start(&ready, UV_READABLE, on_ready);
    uv_tcp_init(uv_default_loop(), &door);
    door.data = lock;
    uv_ip4_addr("127.0.0.1", (int)strtol(argv[2], NULL, 10), &at);
    if (uv_tcp_bind(&door, (void *)&at, 0) != 0
        || uv_listen((uv_stream_t *)&door, 64, on_connection) != 0)
        errx(1, "port %s: cannot listen", argv[2]);
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    uv_loop_close(uv_default_loop());
    hf_client_close(client);
    return 0;
}
