/*
 * own.h: for the files of this folder only: the keepers of lab_error() and of
 * lab_stop_all().
 */
#ifndef LAB_OWN_H
#define LAB_OWN_H

#include "lab/lab.h"

/* Keep the sentence for lab_error().  Return LAB_FAILED and LAB_ABSENT. */
int lab__fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
int lab__lack(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* From now on lab_stop_all() calls stop(arg), unless lab__life_end() is called
 * before with the same two.  Returns LAB_FAILED if there are too many. */
int lab__life_begin(void (*stop)(void *), void *arg);
void lab__life_end(void (*stop)(void *), const void *arg);

#endif
