/*
 * env.h: the environment, read at one place.
 */
#ifndef HF_SYS_ENV_H
#define HF_SYS_ENV_H

/* The value of `name`, borrowed from the environment.  NULL if it is not set
 * or empty, and always NULL in a program with more rights than the user who
 * started it (set-user-id, set-group-id, file capabilities): that user chose
 * the value, and must not choose what the program does with its rights. */
const char *hf__env(const char *name);

#endif
