/*
 * park.h: one thread sleeps until another nudges it, or says that what it waits
 * for is done.
 *
 * The rule: PARK_DONE is the waker's last access to the memory, so that a park
 * may live on the stack of the thread that sleeps.  A wake before the sleep is
 * not lost.
 */
#ifndef HF_SYS_PARK_H
#define HF_SYS_PARK_H

#include <pthread.h>
#include <stdatomic.h>

enum park_word { PARK_AWAKE, PARK_ASLEEP, PARK_NUDGED, PARK_DONE };

struct park {
    atomic_uint word; /* enum park_word */
#ifndef __linux__
    pthread_mutex_t mutex;
    pthread_cond_t cond;
#endif
};

static inline void hf__park_init(struct park *p)
{
    atomic_init(&p->word, PARK_AWAKE);
#ifndef __linux__
    pthread_mutex_init(&p->mutex, NULL);
    pthread_cond_init(&p->cond, NULL);
#endif
}

static inline void hf__park_free(struct park *p)
{
    (void)p;
#ifndef __linux__
    pthread_cond_destroy(&p->cond);
    pthread_mutex_destroy(&p->mutex);
#endif
}

/* Sleep; returns PARK_NUDGED or PARK_DONE. */
enum park_word hf__park_wait(struct park *p);

/* Wake it for another look.  In two steps: the first touches the park and must
 * be made while it surely exists; the second only if the first returned 1, and
 * needs the address alone. */
int hf__park_nudge(struct park *p);
void hf__park_kick(struct park *p);

/* It is done. */
void hf__park_done(struct park *p);

#endif
