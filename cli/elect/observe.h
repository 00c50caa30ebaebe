/* elect/observe.h: `holdfast elect --observe`. */
#ifndef HOLDFAST_ELECT_H
#define HOLDFAST_ELECT_H

#include "option/option.h"

/* Print who leads, and with --follow every change of it. */
int elect_observe(const struct options *o, const char *name);

#endif
