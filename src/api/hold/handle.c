/*
 * handle.c: the table of handles: reserved, filled, taken in hand, dropped.
 *
 * The rule: the table's mutex is a leaf.  It is taken with no other lock held,
 * and no other lock is taken inside it.
 */
#include "api/hold/handle.h"

#include <assert.h>

#include "api/hold/set.h"
#include "base/error.h"
#include "engine/seats.h"

#define CHUNK_LEN 512u
#define NO_PLACE UINT32_MAX

/* A pointer's bits: generation above, place below. */
#define PLACE_BITS (UINTPTR_MAX > UINT32_MAX ? 32u : 20u)
#define PLACE_MASK ((((uintptr_t)1) << PLACE_BITS) - 1)

enum place_state {
    PLACE_FREE,
    PLACE_RESERVED, /* for what is being acquired */
    PLACE_USED,
    PLACE_GONE, /* released; kept for the calls that have it in hand */
    PLACE_SHUT  /* its client is being closed */
};

struct place {
    uint32_t generation;
    uint16_t grips; /* number of calls that have it in hand */
    uint8_t state;  /* enum place_state */
    uint8_t is_set; /* several holds */
    hf_client *client;
    union {
        struct seat *seat;
        struct hold_set *set;
        uint32_t next_free;
    };
};

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t dropped; /* a grip of a client that is being closed */
    struct place **chunks;
    uint32_t chunks_len, chunks_room;
    uint32_t free_head;
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER,
           .dropped = PTHREAD_COND_INITIALIZER,
           .free_head = NO_PLACE};

/* ---- fork ---------------------------------------------------------------- */

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void fork_prepare(void)
{
    pthread_mutex_lock(&table.mutex);
}

static void table_unlock(void)
{
    pthread_mutex_unlock(&table.mutex);
}

/* The child has no thread that waits on the condition. */
static void fork_child(void)
{
    table.dropped = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    table_unlock();
}

static void fork_register(void)
{
    pthread_atfork(fork_prepare, table_unlock, fork_child);
}

/* Another thread may fork while this one has the mutex, so the handlers for
 * that are registered before the mutex is first locked. */
static void table_lock(void)
{
    pthread_once(&fork_once, fork_register);
    pthread_mutex_lock(&table.mutex);
}

/* ---- places -------------------------------------------------------------- */

static struct place *place_at(uint32_t at)
{
    return &table.chunks[at / CHUNK_LEN][at % CHUNK_LEN];
}

/* The table is allocated by the process, not by a client: a handle may be used
 * after its client was closed, and must be recognised as stale then. */
static int table_grow(void)
{
    const struct allocator *a = &hf__alloc_default;
    if (table.chunks_len == table.chunks_room) {
        uint32_t room = table.chunks_room ? 2 * table.chunks_room : 16;
        struct place **more =
            hf__realloc(a, table.chunks, room * sizeof *table.chunks);
        if (!more) return -1;
        table.chunks = more;
        table.chunks_room = room;
    }
    uint32_t first = table.chunks_len * CHUNK_LEN;
    if (first > PLACE_MASK - CHUNK_LEN) return -1;
    struct place *chunk = hf__alloc_zero(a, CHUNK_LEN * sizeof *chunk);
    if (!chunk) return -1;
    table.chunks[table.chunks_len++] = chunk;
    for (uint32_t i = CHUNK_LEN; i-- > 0;) {
        chunk[i].next_free = table.free_head;
        table.free_head = first + i;
    }
    return 0;
}

static hf_hold *handle_of(uint32_t at, uint32_t generation)
{
    uintptr_t bits =
        ((uintptr_t)generation << PLACE_BITS) | ((uintptr_t)at + 1);
    return (hf_hold *)bits;
}

/* The place that the handle names, if it still stands for what it did. */
static struct place *place_of(const hf_hold *handle)
{
    uintptr_t bits = (uintptr_t)handle, at = bits & PLACE_MASK;
    if (at == 0 || at > (uintptr_t)table.chunks_len * CHUNK_LEN) return NULL;
    struct place *p = place_at((uint32_t)at - 1);
    uintptr_t generation = (uintptr_t)p->generation << PLACE_BITS;
    return generation == (bits & ~PLACE_MASK) ? p : NULL;
}

/* Each acquire gets a generation of its own.  For a handle that was released or
 * shut, the generation has gone up already. */
static void place_free(struct place *p, uint32_t at)
{
    if (p->state == PLACE_RESERVED) p->generation++;
    p->state = PLACE_FREE;
    p->client = NULL;
    p->next_free = table.free_head;
    table.free_head = at;
}

static uint32_t place_index(const hf_hold *handle)
{
    return (uint32_t)(((uintptr_t)handle & PLACE_MASK) - 1);
}

/* ---- a client in hand ---------------------------------------------------- */

static void client_drop(hf_client *c)
{
    assert(c->grips > 0);
    if (--c->grips == 0 && c->handles_shut)
        pthread_cond_broadcast(&table.dropped);
}

/* ---- handles ------------------------------------------------------------- */

int hf__handle_reserve(hf_client *c, hf_hold **out)
{
    int status = HF_NOMEM;
    table_lock();
    if (table.free_head != NO_PLACE || table_grow() == 0) {
        uint32_t at = table.free_head;
        struct place *p = place_at(at);
        table.free_head = p->next_free;
        p->state = PLACE_RESERVED;
        p->client = c;
        p->seat = NULL;
        c->grips++;
        *out = handle_of(at, p->generation);
        status = HF_OK;
    }
    table_unlock();
    return status;
}

int hf__handle_fill(hf_hold *handle, hf_client *c, const struct grip *grip)
{
    int status = HF_OK;
    table_lock();
    struct place *p = place_of(handle);
    assert(p && p->state == PLACE_RESERVED && p->client == c);
    if (grip->client->handles_shut) {
        status = HF_CLOSED;
    } else {
        p->state = PLACE_USED;
        p->client = grip->client;
        p->is_set = grip->set != NULL;
        if (grip->set)
            p->set = grip->set;
        else
            p->seat = grip->seat;
        client_drop(c);
    }
    table_unlock();
    return status;
}

void hf__handle_cancel(hf_hold *handle, hf_client *c)
{
    table_lock();
    place_free(place_of(handle), place_index(handle));
    client_drop(c);
    table_unlock();
}

static void grip_fill(struct grip *g, const struct place *p)
{
    *g = (struct grip){.client = p->client};
    if (p->is_set)
        g->set = p->set;
    else
        g->seat = p->seat;
}

int hf__handle_take(hf_hold *handle, struct grip *out, int is_last)
{
    int found = -1;
    table_lock();
    struct place *p = place_of(handle);
    if (p && p->state == PLACE_USED && p->grips < UINT16_MAX) {
        grip_fill(out, p);
        out->handle = handle;
        out->client->grips++;
        p->grips++;
        if (is_last) {
            p->state = PLACE_GONE;
            p->generation++;
        }
        found = 0;
    }
    table_unlock();
    return found;
}

/* Let go of what a handle stood for; no call has it in hand. */
static void grip_end(const struct grip *g)
{
    struct pump *p = &g->client->pump;
    if (g->set) {
        hf__set_free(g->set);
        return;
    }
    assert(g->seat);
    hf__pump_lock(p);
    hf__listener_remove(&p->engine, g->seat, g->handle);
    if (g->seat->handle == g->handle) g->seat->handle = NULL;
    hf__seat_unpin(&p->engine, g->seat);
    hf__pump_unlock(p);
}

void hf__handle_drop(const struct grip *g)
{
    table_lock();
    uint32_t at = place_index(g->handle);
    struct place *p = place_at(at);
    int is_end = --p->grips == 0 && p->state == PLACE_GONE;
    if (is_end) place_free(p, at);
    if (!is_end) client_drop(g->client);
    table_unlock();
    if (!is_end) return;
    grip_end(g); /* with the client in hand */
    table_lock();
    client_drop(g->client);
    table_unlock();
}

/* ---- from a grant to a handle -------------------------------------------- */

int hf__handle_given(hf_hold *handle, hf_client *c, const struct grip *by,
                     hf_hold **out, struct hf_error *err)
{
    struct pump *p = &by->client->pump;
    hf__pump_lock(p); /* before another thread can release the hold */
    int is_first = !by->seat->handle;
    if (is_first) by->seat->handle = handle;
    hf__pump_unlock(p);
    int status = hf__handle_fill(handle, c, by);
    if (status == HF_OK) {
        *out = handle;
        return HF_OK;
    }
    hf__pump_lock(p);
    hf__error_set(err, status, "%s", hf_status_text(status));
    if (is_first) by->seat->handle = NULL;
    hf__seat_unpin(&p->engine, by->seat);
    hf__pump_unlock(p);
    hf__handle_cancel(handle, c); /* from here on the client may be freed */
    return status;
}

void hf__handle_forget(hf_hold *hold)
{
    struct grip g;
    if (hold && hf__handle_take(hold, &g, 1) == 0) hf__handle_drop(&g);
}

/* ---- closing a client ---------------------------------------------------- */

void hf__handles_shut(hf_client *c)
{
    table_lock();
    c->handles_shut = 1;
    for (uint32_t at = 0; at < table.chunks_len * CHUNK_LEN; at++) {
        struct place *p = place_at(at);
        if (p->client != c || p->state != PLACE_USED) continue;
        p->state = PLACE_SHUT;
        p->generation++;
    }
    table_unlock();
}

int hf__handles_wait(hf_client *c)
{
    table_lock();
    while (c->grips > 0 && !c->pump.own_loop)
        pthread_cond_wait(&table.dropped, &table.mutex);
    int is_over = c->grips == 0;
    table_unlock();
    return is_over;
}

/* Take the next that is to be let go, from `*at` on.  1 if there is one. */
static int shut_next(const hf_client *c, uint32_t *at, struct grip *out)
{
    int found = 0;
    table_lock();
    for (; !found && *at < table.chunks_len * CHUNK_LEN; ++*at) {
        struct place *p = place_at(*at);
        if (p->client != c || p->state != PLACE_SHUT) continue;
        grip_fill(out, p);
        out->handle = handle_of(*at, p->generation - 1);
        place_free(p, *at);
        found = 1;
    }
    table_unlock();
    return found;
}

void hf__handles_free(hf_client *c)
{
    struct grip g;
    for (uint32_t at = 0; shut_next(c, &at, &g);) grip_end(&g);
}
