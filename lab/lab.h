/*
 * lab.h: what all of the lab shares: how a call fails, and the end of all that
 * it started.  One rule: nothing in this library ends the program or prints; a
 * call that fails says so, and lab_error() says why.
 */
#ifndef LAB_LAB_H
#define LAB_LAB_H

/* What a call returns that can fail; some return NULL instead.  A number of 0
 * or more is success. */
#define LAB_OK 0
#define LAB_FAILED (-1)
#define LAB_ABSENT (-2) /* this machine lacks a program, or refuses a right */

#define LAB_ERROR_MAX 1024

/* Why the last call of this thread failed: "where: what: why".  The text stays
 * until another call of this thread fails. */
const char *lab_error(void);

/* Stop everything that this process started and has not stopped yet, the
 * youngest first.  Runs by itself when the process exits.  A process that is
 * killed runs nothing, but its children are killed with it, where the system
 * can do that (PR_SET_PDEATHSIG); their directories stay. */
void lab_stop_all(void);

#endif
