/* request.h: carrying out one request. */
#ifndef HF_MEMORY_REQUEST_H
#define HF_MEMORY_REQUEST_H

#include "backend/memory/memory.h"

/* Carry out `req` with all its faults, and answer it now or later. */
void hf__memory_request_answer(struct backend_conn *c, struct request *req);

/* Carry it out without faults, but for a lease that has `expired`. */
void hf__memory_request_perform(struct backend_conn *c,
                                const struct request *req, int expired,
                                struct reply *rep);

/* Fill `rep` with a failure; with the one that the option error= asks for. */
void hf__memory_request_fail(struct backend_conn *c, struct reply *rep,
                             enum verdict verdict, int status, const char *why);
void hf__memory_request_refuse(struct backend_conn *c, struct reply *rep);

#endif
