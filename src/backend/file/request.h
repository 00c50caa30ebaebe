/* request.h: one request, to the file that answers it. */
#ifndef HF_FILE_REQUEST_H
#define HF_FILE_REQUEST_H

#include "backend/file/file.h"

/* What a function that answers a request returns. */
#define ANSWER_DONE 0  /* `reply` is filled */
#define ANSWER_AGAIN 1 /* the request is to be tried again shortly */
#define ANSWER_GIVEN 2 /* the function has answered it already */

/* Carry out `req` and answer it, now or from the timer. */
void hf__file_request_answer(struct backend_conn *c, struct request *req);

/* The lock that `req` is about; NULL: `reply` says why not. */
struct file_lock *hf__file_request_lock(struct backend_conn *c,
                                        const struct request *req,
                                        struct reply *reply);

#endif
