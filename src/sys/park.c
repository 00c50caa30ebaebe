/* park.c: see park.h. */
#include "sys/park.h"

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

enum park_word hf__park_wait(struct park *p)
{
    for (;;) {
        unsigned word = PARK_AWAKE;
        if (atomic_compare_exchange_strong(&p->word, &word, PARK_ASLEEP))
            word = PARK_ASLEEP;
        if (word == PARK_DONE) return PARK_DONE;
        if (word == PARK_NUDGED) {
            if (atomic_compare_exchange_strong(&p->word, &word, PARK_AWAKE))
                return PARK_NUDGED;
            continue;
        }
        syscall(SYS_futex, &p->word, FUTEX_WAIT_PRIVATE, PARK_ASLEEP, NULL,
                NULL, 0);
    }
}

int hf__park_nudge(struct park *p)
{
    unsigned word = atomic_load(&p->word);
    while (word == PARK_AWAKE || word == PARK_ASLEEP)
        if (atomic_compare_exchange_weak(&p->word, &word, PARK_NUDGED))
            return word == PARK_ASLEEP;
    return 0;
}

void hf__park_kick(struct park *p)
{
    syscall(SYS_futex, &p->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void hf__park_done(struct park *p)
{
    if (atomic_exchange(&p->word, PARK_DONE) == PARK_ASLEEP) hf__park_kick(p);
}

#else

enum park_word hf__park_wait(struct park *p)
{
    enum park_word word;
    pthread_mutex_lock(&p->mutex);
    while (atomic_load(&p->word) == PARK_AWAKE)
        pthread_cond_wait(&p->cond, &p->mutex);
    word = (enum park_word)atomic_load(&p->word);
    if (word == PARK_NUDGED) atomic_store(&p->word, PARK_AWAKE);
    pthread_mutex_unlock(&p->mutex);
    return word;
}

static void park_say(struct park *p, enum park_word word)
{
    pthread_mutex_lock(&p->mutex);
    if (atomic_load(&p->word) != PARK_DONE) atomic_store(&p->word, word);
    pthread_cond_signal(&p->cond);
    pthread_mutex_unlock(&p->mutex);
}

int hf__park_nudge(struct park *p)
{
    park_say(p, PARK_NUDGED);
    return 0;
}

void hf__park_kick(struct park *p)
{
    (void)p;
}

void hf__park_done(struct park *p)
{
    park_say(p, PARK_DONE);
}
#endif
