/*
 * oversell.c: two processes of four threads sell 200 items to 600 customers, in
 * six ways.  How many items does each way sell, and how fast is it?
 *
 *     ./oversell redis://127.0.0.1
 *
 * In each way a customer is served as in a real shop: look whether there is an
 * item, do some work (a price, a payment), take the item.  One customer in
 * fifty takes far longer than the others.  The program leaves one sale with its
 * keys in the store.
 */
#include <holdfast/holdfast.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ITEMS 200
#define CUSTOMERS 600
#define PROCESSES 2
#define THREADS 4
#define WORK_US 300
#define LONG_WORK_US 100000 /* of one customer in fifty */
#define LEASE_MS 20         /* of the lock that is given back too late */

/* What all processes see. */
static struct shared {
    pthread_barrier_t together;
    atomic_int customers, sold, failed;
} * shared;

/* What the threads of a process see. */
static hf_client *client;
static hf_lock *lock;
static hf_stock *stock;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char left_key[64], lock_key[64]; /* names in the store */

static void fail(const char *what, const struct hf_error *err)
{
    fprintf(stderr, "oversell: %s: %s\n", what, err->text);
    atomic_store(&shared->failed, 1);
}

static void pause_us(long us)
{
    nanosleep(&(struct timespec){0, us * 1000}, NULL);
}

static void work(int customer)
{
    pause_us(customer % 50 == 25 ? LONG_WORK_US : WORK_US);
}

/* Read the number of items; work; write one less, if the version is still the
 * same or may be any.  HF_OK: sold.  HF_EMPTY: sold out. */
static int number_sell(int customer, int is_checked)
{
    struct hf_value value = HF_VALUE_INIT;
    struct hf_error err;
    char text[32];
    int status = hf_value_read(client, left_key, &value, &err);

    if (status != HF_OK) {
        fail("read", &err);
        return status;
    }
    long left = strtol(value.data, NULL, 10);
    uint64_t version = is_checked ? value.version : HF_VALUE_ANY;
    hf_value_free(client, &value);
    if (left < 1) return HF_EMPTY;
    work(customer);
    snprintf(text, sizeof text, "%ld", left - 1);
    status = hf_value_write(client, left_key, version, text, strlen(text), 0,
                            NULL, &err);
    if (status != HF_OK && status != HF_CHANGED) fail("write", &err);
    return status;
}

/* ---- the six ways -------------------------------------------------------- */

/* Two read the same number, and both write one less. */
static int unlocked_sell(int customer)
{
    return number_sell(customer, 0);
}

/* The other process has a mutex of its own. */
static int mutex_sell(int customer)
{
    pthread_mutex_lock(&mutex);
    int status = number_sell(customer, 0);
    pthread_mutex_unlock(&mutex);
    return status;
}

/* SET lock NX PX; then DEL lock, even if its lease has ended and another thread
 * has it. */
static int setnx_sell(int customer)
{
    struct hf_error err;
    int status;

    while ((status = hf_value_write(client, lock_key, 0, "me", 2, LEASE_MS,
                                    NULL, &err))
           == HF_CHANGED)
        pause_us(1000);
    if (status != HF_OK) {
        fail("SET NX", &err);
        return status;
    }
    status = number_sell(customer, 0);
    if (hf_value_delete(client, lock_key, HF_VALUE_ANY, &err) != HF_OK)
        fail("DEL", &err);
    return status;
}

/* The lease is renewed while the customer is served. */
static int lock_sell(int customer)
{
    struct hf_error err;
    hf_hold *hold = NULL;

    if (hf_lock_acquire(lock, NULL, &hold, &err) != HF_OK) {
        fail("acquire", &err);
        return err.status;
    }
    int status = number_sell(customer, 0);
    hf_hold_release(hold, NULL);
    return status;
}

/* The store refuses to write over a version that was not read. */
static int version_sell(int customer)
{
    int status;

    do status = number_sell(customer, 1);
    while (status == HF_CHANGED);
    return status;
}

/* The item is reserved first; the work is done while it is held. */
static int stock_sell(int customer)
{
    struct hf_reservation got = HF_RESERVATION_INIT;
    struct hf_error err;
    char user[32];

    snprintf(user, sizeof user, "customer-%d", customer);
    if (hf_stock_reserve(stock, user, 1, "only", &got, &err) != HF_OK) {
        fail("reserve", &err);
        return err.status;
    }
    if (got.verdict != HF_STOCK_RESERVED) return HF_EMPTY;
    work(customer);
    int status = hf_stock_confirm(stock, got.token, NULL, &err);
    if (status != HF_OK) fail("confirm", &err);
    return status;
}

static const struct way {
    const char *name;
    int (*sell)(int customer);
} ways[] = {
    {"read, check, write", unlocked_sell},
    {"a mutex in each process", mutex_sell},
    {"SET NX, and DEL too late", setnx_sell},
    {"a distributed lock", lock_sell},
    {"a version number", version_sell},
    {"hf_stock_reserve()", stock_sell},
};

/* ---- a run --------------------------------------------------------------- */

static void *serve(void *arg)
{
    const struct way *way = arg;
    int customer;

    pthread_barrier_wait(&shared->together);
    while (!atomic_load(&shared->failed)
           && (customer = atomic_fetch_add(&shared->customers, 1)) < CUSTOMERS)
        if (way->sell(customer) == HF_OK) atomic_fetch_add(&shared->sold, 1);
    pthread_barrier_wait(&shared->together);
    return NULL;
}

static int sale_open(struct hf_error *err)
{
    struct hf_stock_spec spec = HF_STOCK_SPEC_INIT;

    spec.quantity = ITEMS;
    spec.limit = 1;
    int status = hf_stock_create(client, lock_key, &spec, err);
    return status == HF_OK ? hf_stock_open(client, lock_key, &stock, err)
                           : status;
}

/* Each process does this before any item is sold. */
static int shop_open(const char *url, const struct way *way)
{
    struct hf_error err;
    char text[32];
    int len = snprintf(text, sizeof text, "%d", ITEMS);
    int status = hf_client_open(url, NULL, &client, &err);

    if (status == HF_OK) status = hf_lock_open(client, lock_key, &lock, &err);
    if (status == HF_OK)
        status = hf_value_write(client, left_key, HF_VALUE_ANY, text,
                                (size_t)len, 0, NULL, &err);
    if (status == HF_OK && way->sell == stock_sell) status = sale_open(&err);
    if (status != HF_OK) fail(url, &err);
    return status;
}

/* A process of the shop; it does not return. */
static _Noreturn void shop_run(const char *url, const struct way *way)
{
    pthread_t threads[THREADS];

    if (shop_open(url, way) != HF_OK) _exit(1);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, serve, (void *)way) != 0)
            _exit(1);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    hf_value_delete(client, left_key, HF_VALUE_ANY, NULL);
    hf_stock_close(stock);
    hf_lock_close(lock);
    hf_client_close(client);
    _exit(atomic_load(&shared->failed));
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* 0, or 1: a process failed, and the others were ended with it. */
static int processes_await(pid_t *pids)
{
    int failed = 0;

    for (int i = 0; i < PROCESSES; i++) {
        int status = 0;
        pid_t ended = wait(&status);
        if (ended < 0 || status != 0) failed = 1;
        for (int j = 0; j < PROCESSES; j++) {
            if (pids[j] == ended) pids[j] = 0;
            if (failed && pids[j] > 0) kill(pids[j], SIGKILL);
        }
    }
    return failed;
}

static int way_run(const char *url, const struct way *way)
{
    pid_t pids[PROCESSES];
    double began = now_s();

    atomic_store(&shared->customers, 0);
    atomic_store(&shared->sold, 0);
    snprintf(left_key, sizeof left_key, "oversell-left-%ld", (long)getpid());
    snprintf(lock_key, sizeof lock_key, "oversell-%ld", (long)getpid());
    fflush(stdout);
    for (int i = 0; i < PROCESSES; i++) {
        pids[i] = fork();
        if (pids[i] == 0) shop_run(url, way);
        if (pids[i] < 0) abort();
    }
    if (processes_await(pids)) return 1;
    int sold = atomic_load(&shared->sold);
    printf("%-26s %5d %9d %10.0f\n", way->name, sold,
           sold > ITEMS ? sold - ITEMS : 0, CUSTOMERS / (now_s() - began));
    return 0;
}

int main(int argc, char **argv)
{
    pthread_barrierattr_t attr;
    int failed = 0;

    if (argc != 2) {
        fprintf(stderr, "oversell: usage: oversell URL\n");
        return 64;
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 1;
    pthread_barrierattr_init(&attr);
    pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared->together, &attr, PROCESSES * THREADS);
    printf("%d items, %d customers\n%-26s %5s %9s %10s\n", ITEMS, CUSTOMERS, "",
           "sold", "oversold", "served/s");
    for (size_t i = 0; i < sizeof ways / sizeof ways[0] && !failed; i++)
        failed = way_run(argv[1], &ways[i]);
    return failed;
}
