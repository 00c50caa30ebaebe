/* fallback.h: what a client does while its store cannot be reached. */
#ifndef HF_API_FALLBACK_H
#define HF_API_FALLBACK_H

#include "api/client/client.h"
#include "base/url.h"

/* Read what is to be done; HF_OK, HF_INVALID or HF_NOMEM.  `given` is the
 * option's field, which wins over the URL's. */
int hf__fallback_read(hf_client *c, const struct url *url, int32_t given,
                      struct hf_error *err);

/* Free it, once the engine is closed. */
void hf__fallback_free(hf_client *c);

#endif
