/*
 * run/event.h: lines on HOLDFAST_STATUS_FD, and JSON events.
 */
#ifndef HOLDFAST_CLI_RUN_EVENT_H
#define HOLDFAST_CLI_RUN_EVENT_H

#include <stdint.h>

#include "run/run.h"

/* A line on HOLDFAST_STATUS_FD. */
void status_line(const struct run *r, const char *line);
void event_simple(const struct run *r, const char *event);
void event_number(const struct run *r, const char *event, const char *key,
                  int64_t value);
void event_acquired(const struct run *r); /* one event per lock */
void event_held(const struct run *r, int64_t valid_ms);
/* What is known of a run by another process. */
void event_once(const struct run *r, const struct hf_once_result *result);
/* elect: a run is over, and another one comes. */
void event_end_of_round(const struct run *r, const char *reason, int code);
void event_end(const struct run *r, const char *reason, int code);

#endif
