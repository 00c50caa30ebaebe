/*
 * call.c: HTTP/2 on our own stream, by nghttp2.  One rule: nghttp2's callbacks
 * only store what has come; the answers are read after nghttp2 has returned.
 */
#include "backend/etcd/call.h"

#include <string.h>

#include "backend/etcd/etcd.h"

#define WINDOW (1 << 20) /* bytes that the server may send ahead */

static const char *const paths[CALL_KINDS] = {
    [CALL_AUTH] = "/etcdserverpb.Auth/Authenticate",
    [CALL_GRANT] = "/etcdserverpb.Lease/LeaseGrant",
    [CALL_ALIVE] = "/etcdserverpb.Lease/LeaseKeepAlive",
    [CALL_GEN] = "/etcdserverpb.KV/Put",
    [CALL_PROPOSE] = "/etcdserverpb.KV/Txn",
    [CALL_RENEW] = "/etcdserverpb.KV/Txn",
    [CALL_ATTACH] = "/etcdserverpb.KV/Txn",
    [CALL_TAKEN] = "/etcdserverpb.KV/Txn",
    [CALL_RELEASE] = "/etcdserverpb.KV/Txn",
    [CALL_INSPECT] = "/etcdserverpb.KV/Txn",
    [CALL_TTL] = "/etcdserverpb.Lease/LeaseTimeToLive",
    [CALL_BREAK] = "/etcdserverpb.KV/Txn",
    [CALL_LIST] = "/etcdserverpb.KV/Range",
    [CALL_FACTS] = "/etcdserverpb.KV/Range",
    [CALL_ADOPT] = "/etcdserverpb.KV/Txn",
    [CALL_ADOPT_LEFT] = "/etcdserverpb.Lease/LeaseTimeToLive",
    [CALL_ADOPT_END] = "/etcdserverpb.KV/Txn",
    [CALL_CLOCK_LOOK] = "/etcdserverpb.KV/Txn",
    [CALL_CLOCK_LEFT] = "/etcdserverpb.Lease/LeaseTimeToLive",
    [CALL_CLOCK_GRANT] = "/etcdserverpb.Lease/LeaseGrant",
    [CALL_CLOCK_MAKE] = "/etcdserverpb.KV/Txn",
    [CALL_CLOCK_END] = "/etcdserverpb.Lease/LeaseRevoke",
    [CALL_CELL_READ] = "/etcdserverpb.KV/Txn",
    [CALL_CELL_SWAP] = "/etcdserverpb.KV/Txn",
    [CALL_CELL_USE] = "/etcdserverpb.KV/Txn",
    [CALL_CELL_UNUSE] = "/etcdserverpb.KV/Txn",
    [CALL_WATCH] = "/etcdserverpb.Watch/Watch",
};

/* ---- nghttp2's memory ---- */

static void *mem_alloc(size_t size, void *user)
{
    return hf__alloc(user, size);
}

static void mem_free(void *ptr, void *user)
{
    hf__free(user, ptr);
}

static void *mem_zero(size_t n, size_t size, void *user)
{
    return size && n > SIZE_MAX / size ? NULL : hf__alloc_zero(user, n * size);
}

static void *mem_again(void *ptr, size_t size, void *user)
{
    return hf__realloc(user, ptr, size);
}

static const struct allocator *memory(const struct link *l)
{
    return l->c->env->alloc;
}

/* ---- receiving ---- */

static struct call *call_of(struct link *l, int32_t stream)
{
    return nghttp2_session_get_stream_user_data(l->session, stream);
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame,
                     const uint8_t *name, size_t name_len, const uint8_t *value,
                     size_t value_len, uint8_t flags, void *user)
{
    (void)session;
    (void)flags;
    struct call *call = call_of(user, frame->hd.stream_id);
    if (!call) return 0;
    if (name_len == 11 && !memcmp(name, "grpc-status", 11)) {
        uint64_t status;
        if (hf__digits_parse((const char *)value, value_len, 99, &status) != 0)
            status = CALL_BROKEN;
        call->status = (int)status;
    } else if (name_len == 12 && !memcmp(name, "grpc-message", 12)) {
        size_t len = value_len < sizeof call->message
                         ? value_len
                         : sizeof call->message - 1;
        memcpy(call->message, value, len);
        call->message[len] = '\0';
    }
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream,
                   const uint8_t *data, size_t len, void *user)
{
    struct link *l = user;
    struct call *call = call_of(l, stream);
    (void)session;
    (void)flags;
    if (!call) return 0;
    return hf__etcd_frames_feed(&call->in, memory(l), data, len) == 0
               ? 0
               : NGHTTP2_ERR_CALLBACK_FAILURE;
}

static int on_close(nghttp2_session *session, int32_t stream, uint32_t code,
                    void *user)
{
    struct call *call = call_of(user, stream);
    (void)session;
    (void)code;
    if (!call) return 0;
    call->is_over = 1;
    if (call->status == CALL_OPEN) call->status = CALL_BROKEN;
    return 0;
}

/* ---- sending ---- */

static ssize_t body_read(nghttp2_session *session, int32_t stream, uint8_t *buf,
                         size_t size, uint32_t *flags,
                         nghttp2_data_source *source, void *user)
{
    struct call *call = source->ptr;
    size_t left = call->out.len - call->out_done;
    size_t len = left < size ? left : size;
    (void)session;
    (void)stream;
    (void)user;
    if (len == 0 && call->stays) return NGHTTP2_ERR_DEFERRED;
    if (len > 0) memcpy(buf, call->out.at + call->out_done, len);
    call->out_done += len;
    if (len == left && !call->stays) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)len;
}

/* ---- life ---- */

static int session_make(struct link *l)
{
    nghttp2_session_callbacks *calls = NULL;
    nghttp2_mem mem = {(void *)memory(l), mem_alloc, mem_free, mem_zero,
                       mem_again};
    if (nghttp2_session_callbacks_new(&calls) != 0) return -1;
    nghttp2_session_callbacks_set_on_header_callback(calls, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(calls, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(calls, on_close);
    int rc = nghttp2_session_client_new3(&l->session, calls, l, NULL, &mem);
    nghttp2_session_callbacks_del(calls);
    return rc == 0 ? 0 : -1;
}

int hf__etcd_session_begin(struct link *l)
{
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW}};
    if (session_make(l) != 0) {
        l->session = NULL;
        return -1;
    }
    if (nghttp2_submit_settings(l->session, NGHTTP2_FLAG_NONE, settings, 2) != 0
        || nghttp2_session_set_local_window_size(l->session, NGHTTP2_FLAG_NONE,
                                                 0, WINDOW)
               != 0)
        return -1;
    return 0;
}

void hf__etcd_session_end(struct link *l)
{
    if (l->session) nghttp2_session_del(l->session);
    l->session = NULL;
    l->has_calls = 0;
    l->watch = NULL;
    while (l->calls) {
        struct call *call = l->calls;
        l->calls = call->next;
        hf__etcd_call_free(l, call);
    }
}

static int message_add(struct link *l, struct call *call,
                       const ProtobufCMessage *message)
{
    size_t len = protobuf_c_message_get_packed_size(message);
    char *to = hf__etcd_bytes_room(&call->out, memory(l), FRAME_HEAD + len);
    if (!to) return -1;
    hf__etcd_frame_head(to, len);
    protobuf_c_message_pack(message, (uint8_t *)to + FRAME_HEAD);
    call->out.len += FRAME_HEAD + len;
    return 0;
}

static nghttp2_nv header(const char *name, const char *value)
{
    /* nghttp2 copies name and value. */
    return (nghttp2_nv){(uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value,
                        strlen(name), strlen(value), NGHTTP2_NV_FLAG_NONE};
}

static int stream_open(struct link *l, struct call *call)
{
    const struct backend_conn *c = l->c;
    nghttp2_nv headers[8] = {
        header(":method", "POST"),
        header(":scheme", c->tls ? "https" : "http"),
        header(":path", paths[call->kind]),
        header(":authority", c->endpoints[l->endpoint].text),
        header("content-type", "application/grpc"),
        header("te", "trailers"),
        header("user-agent", "holdfast"),
        header("token", l->token ? l->token : "")};
    size_t len = l->token && call->kind != CALL_AUTH ? 8 : 7;
    nghttp2_data_provider body = {.source.ptr = call,
                                  .read_callback = body_read};
    call->stream =
        nghttp2_submit_request(l->session, NULL, headers, len, &body, call);
    return call->stream < 0 ? -1 : 0;
}

struct call *hf__etcd_call(struct link *l, enum call_kind kind,
                           const ProtobufCMessage *message, struct request *req,
                           int64_t due_us)
{
    struct backend_conn *c = l->c;
    if (!l->session) return NULL;
    struct call *call = hf__alloc_zero(memory(l), sizeof *call);
    if (!call) return NULL;
    call->kind = kind;
    call->status = CALL_OPEN;
    call->stays = kind == CALL_WATCH;
    call->req = req;
    call->sent_us = hf__etcd_now(c);
    call->due_us = due_us;
    call->seq = ++c->seq;
    if (message_add(l, call, message) != 0 || stream_open(l, call) != 0) {
        hf__etcd_call_free(l, call);
        return NULL;
    }
    *l->calls_end = call;
    l->calls_end = &call->next;
    l->has_calls = 1;
    return call;
}

int hf__etcd_call_more(struct link *l, struct call *call,
                       const ProtobufCMessage *message)
{
    if (call->out_done == call->out.len) call->out_done = call->out.len = 0;
    if (message_add(l, call, message) != 0) return -1;
    l->has_calls = 1;
    /* Fails if the stream has not begun to send; then nothing needs to be
     * resumed. */
    (void)nghttp2_session_resume_data(l->session, call->stream);
    return 0;
}

int hf__etcd_session_feed(struct link *l, const char *data, size_t len)
{
    ssize_t n =
        nghttp2_session_mem_recv(l->session, (const uint8_t *)data, len);
    return n == (ssize_t)len ? 0 : -1;
}

ssize_t hf__etcd_session_take(struct link *l, const unsigned char **out)
{
    return nghttp2_session_mem_send(l->session, out);
}

struct call *hf__etcd_call_over(struct link *l)
{
    for (struct call **at = &l->calls; *at; at = &(*at)->next) {
        struct call *call = *at;
        if (!call->is_over) continue;
        *at = call->next;
        if (!*at) l->calls_end = at;
        call->next = NULL;
        return call;
    }
    return NULL;
}

void hf__etcd_call_free(struct link *l, struct call *call)
{
    if (l->session && !call->is_over && call->stream > 0)
        (void)nghttp2_session_set_stream_user_data(l->session, call->stream,
                                                   NULL);
    if (!l->calls) l->calls_end = &l->calls;
    hf__free(memory(l), call->info);
    hf__free(memory(l), call->adopted);
    hf__etcd_bytes_free(&call->out, memory(l));
    hf__etcd_bytes_free(&call->in.in, memory(l));
    hf__free(memory(l), call);
}
