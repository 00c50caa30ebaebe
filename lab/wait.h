/*
 * wait.h: time and conditions.  One rule: a condition is waited for, with a
 * limit that only something broken reaches.
 */
#ifndef LAB_WAIT_H
#define LAB_WAIT_H

#include <stdint.h>

#define LAB_PATIENCE_MS 150000

/* Milliseconds of a clock that only goes forward. */
int64_t lab_now_ms(void);

/* Let time pass. */
void lab_pause_ms(int64_t ms);

/* Wait until cond(arg) is true: 1; 0 if LAB_PATIENCE_MS passed before. */
int lab_until(int (*cond)(void *), void *arg);

/* Wait until the descriptor can be read: 1; 0 if `timeout_ms` passed before. */
int lab_until_readable(int fd, int64_t timeout_ms);

#endif
