/*
 * session/interrupt.h: a signal ends the wait for a lock.
 */
#ifndef HOLDFAST_CLI_SESSION_INTERRUPT_H
#define HOLDFAST_CLI_SESSION_INTERRUPT_H

#include "holdfast/holdfast.h"

/* From now on INT, TERM, HUP, QUIT, USR1 and USR2 cancel `cancel`; with NULL
 * they only are noted. */
void interrupt_setup(hf_cancel *cancel);
/* The signal that came first, or 0. */
int interrupt_signal(void);

#endif
