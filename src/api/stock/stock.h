/*
 * stock.h: sales: objects, texts, and one request to one segment.
 */
#ifndef HF_API_STOCK_H
#define HF_API_STOCK_H

#include "api/client/object.h"
#include "base/stock.h"

#define STOCK_ESCAPED(bytes) (3 * (bytes) + 1)
#define STOCK_SEGMENT_NAME_MAX (HF_STOCK_NAME_MAX + 8) /* "<sale>#<segment>" */

struct hf_stock {
    struct object object; /* first */
    hf_client *client;
    uint32_t segments;
    char name[]; /* with a NUL behind it */
};

/* One request to one segment. */
struct stock_op {
    struct op op; /* first */
    struct stock_job job;
    char name[STOCK_SEGMENT_NAME_MAX];
};

/* Prepare the request for what `o->job` says. */
void hf__sale_op(struct stock_op *o, const char *sale);
/* HF_OK, or the status for ABSENT and OTHER. */
int hf__sale_says_status(const struct stock_job *job, struct hf_error *err);

/* ---- texts ---- */

/* Write `text` with every byte but letters, digits and -_.~@:+ as %XX; `out`
 * has STOCK_ESCAPED(length of `text`) bytes. */
void hf__sale_escape(const char *text, char *out);
/* HF_OK, or HF_INVALID if `text` does not have 1 to `most` bytes. */
int hf__sale_text_check(const char *what, const char *text, size_t most,
                        struct hf_error *err);
int hf__sale_units_check(int64_t units, struct hf_error *err);
/* The segment of a user, for good: CRC-32 of the bytes, modulo segments. */
uint32_t hf__sale_home(const char *user, uint32_t segments);
/* Characters that cannot be guessed; HF_OK, or why there are none. */
int hf__sale_nonce(char out[STOCK_NONCE_LEN + 1], struct hf_error *err);

/* "<segment>.<order>.<nonce>.<escaped user>" */
void hf__sale_token_write(const struct stock_job *job,
                          char out[HF_STOCK_TOKEN_MAX]);
/* Fill segment, order, nonce and user of `job`; `user` is a part of `token`.
 * HF_OK, or HF_INVALID. */
int hf__sale_token_read(const char *token, uint32_t segments,
                        struct stock_job *job, struct hf_error *err);

#endif
