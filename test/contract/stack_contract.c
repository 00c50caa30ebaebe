/*
 * stack_contract.c: threads with little stack.  One rule: HF_THREAD_STACK_MIN
 * bytes are enough for every call, on every store.
 */
#include <pthread.h>
#include <sys/mman.h>

#include "lib/rig.h"

/* A sanitizer puts guards around every variable. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STACK_LEN ((size_t)HF_THREAD_STACK_MIN * 32)
#else
#define STACK_LEN ((size_t)HF_THREAD_STACK_MIN)
#endif
#define GUARD_LEN ((size_t)65536)

/* What the thread saw: the first call that did not do what it should. */
struct seen {
    const char *what;
    int status;
};

static void saw(struct seen *seen, const char *what, int status)
{
    if (status == HF_OK || status == HF_UNSUPPORTED || seen->what) return;
    seen->what = what;
    seen->status = status;
}

static int row_see(const struct hf_list_row *row, void *user)
{
    (void)row;
    (void)user;
    return 0;
}

static void ticket_use(hf_lock *l, struct seen *seen)
{
    char ticket[HF_TICKET_MAX];
    struct hf_acquire_options o =
        rig_options(RIG_WAIT_MS, 30000, HF_ACQUIRE_DETACHED);
    hf_hold *hold;
    if (hf_lock_acquire(l, &o, &hold, NULL) != HF_OK) return;
    saw(seen, "ticket of", hf_hold_ticket(hold, ticket, sizeof ticket, NULL));
    saw(seen, "attach", hf_lock_attach(l, ticket, 0, &hold, NULL));
    saw(seen, "again", hf_hold_ticket(hold, ticket, sizeof ticket, NULL));
    saw(seen, "ticket", hf_ticket_release(l, ticket, NULL));
}

static void set_use(hf_client *c, hf_lock *l, struct seen *seen)
{
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 30000, 0);
    hf_lock *locks[2] = {l, NULL};
    hf_multi *m;
    hf_hold *hold = NULL;
    saw(seen, "lock open", hf_lock_open(c, "b", &locks[1], NULL));
    if (seen->what) return;
    saw(seen, "set", hf_multi_open(locks, 2, &m, NULL));
    if (seen->what) return;
    saw(seen, "set acquire", hf_multi_acquire(m, &o, &hold, NULL));
    saw(seen, "set extend", hf_hold_extend(hold, 30000, NULL));
    saw(seen, "set release", hf_hold_release(hold, NULL));
    hf_multi_close(m);
    hf_lock_close(locks[1]);
}

static void lock_use(hf_client *c, struct seen *seen)
{
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 30000, 0);
    struct hf_error err;
    struct hf_info info = HF_INFO_INIT;
    hf_lock *l;
    hf_hold *hold = NULL;
    saw(seen, "lock open", hf_lock_open(c, "a", &l, &err));
    if (seen->what) return;
    saw(seen, "acquire", hf_lock_acquire(l, &o, &hold, &err));
    saw(seen, "extend", hf_hold_extend(hold, 30000, &err));
    saw(seen, "inspect", hf_lock_inspect(l, &info, &err));
    saw(seen, "list", hf_client_list(c, NULL, row_see, NULL, &err));
    saw(seen, "release", hf_hold_release(hold, &err));
    saw(seen, "acquire as this thread", hf_lock_acquire(l, &o, NULL, &err));
    saw(seen, "release as this thread", hf_lock_release(l, NULL, &err));
    saw(seen, "break", hf_lock_break(l, NULL, &err));
    ticket_use(l, seen);
    set_use(c, l, seen);
    hf_lock_close(l);
}

static void value_use(hf_client *c, struct seen *seen)
{
    static const char text[] = "some bytes";
    struct hf_value v = HF_VALUE_INIT;
    struct hf_error err;
    uint64_t version = 0;
    saw(seen, "value write",
        hf_value_write(c, "v", HF_VALUE_ANY, text, sizeof text, 0, &version,
                       &err));
    if (hf_value_read(c, "v", &v, &err) == HF_OK) hf_value_free(c, &v);
}

static void *calls_make(void *user)
{
    struct seen *seen = user;
    struct hf_error err;
    hf_client *c;
    saw(seen, "open", hf_client_open(rig_url(), NULL, &c, &err));
    if (seen->what) return NULL;
    lock_use(c, seen);
    value_use(c, seen);
    hf_client_close(c);
    return NULL;
}

/* On memory of our own, with nothing below it: a stack that is too small ends
 * the test by a signal. */
static void thread_run(size_t len, struct seen *seen)
{
    pthread_attr_t attr;
    pthread_t thread;
    char *base = mmap(NULL, GUARD_LEN + len, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(base != MAP_FAILED);
    CHECK_INT(mprotect(base + GUARD_LEN, len, PROT_READ | PROT_WRITE), 0);
    CHECK_INT(pthread_attr_init(&attr), 0);
    CHECK_INT(pthread_attr_setstack(&attr, base + GUARD_LEN, len), 0);
    CHECK_INT(pthread_create(&thread, &attr, calls_make, seen), 0);
    CHECK_INT(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attr);
    munmap(base, GUARD_LEN + len);
}

TEST(stack, of_the_least_size_is_enough_for_every_call)
{
    struct seen seen = {NULL, HF_OK};
    rig_begin();
    thread_run(STACK_LEN, &seen);
    if (seen.what) TEST_FAIL("%s: %s", seen.what, hf_status_name(seen.status));
}
