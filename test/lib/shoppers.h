/*
 * shoppers.h: many users who buy at once while something happens to the
 * servers, and what each of them was told.  One rule: an order that failed is
 * repeated under the same request id, and what was answered once must be
 * answered again.
 *
 *     shoppers_begin(stock, 3000);
 *     ... kill, restart, move ...
 *     shoppers_end(3000);
 */
#ifndef HF_TEST_SHOPPERS_H
#define HF_TEST_SHOPPERS_H

#include "holdfast/holdfast.h"

#define SHOPPERS_MAX 20000

/* Begin to reserve one unit for each of `orders` users, 64 at once.  The sale
 * has a limit of 1. */
void shoppers_begin(hf_stock *stock, int orders);
/* How many were answered so far. */
int shoppers_answered(void);
/* Wait for this many. */
void shoppers_wait(int answered);
/* Wait for all; repeat what failed or came too early, until `units` are held;
 * check that each order which was told to be reserved still is, that no other
 * unit is held, and that the books balance.  Then confirm all. */
void shoppers_end(int64_t units);

#endif
