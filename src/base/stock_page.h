/* stock_page.h: the entries of a segment's event stream, as a page. */
#ifndef HF_BASE_STOCK_PAGE_H
#define HF_BASE_STOCK_PAGE_H

#include "base/stock.h"

/* Take the entry `id` whose field is `text`: "<kind> <user> <order> <id>
 * <units>", and perhaps more behind a space.  1: taken; 0: there is no room
 * left; -1: it is not one. */
int hf__entries_add(struct stock_page *p, const char *id, size_t id_len,
                    const char *text, size_t text_len);

#endif
