/* elect/observe.h: the two halves of `holdfast elect`. */
#ifndef HOLDFAST_ELECT_H
#define HOLDFAST_ELECT_H

#include "option/option.h"

/* elect/observe.c: print who leads, and with --follow every change of it. */
int elect_observe(const struct options *o, const char *name);

#endif
