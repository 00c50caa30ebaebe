/*
 * again.h: requests that are to be repeated: releases above all.
 */
#ifndef HF_ENGINE_AGAIN_H
#define HF_ENGINE_AGAIN_H

struct engine;
struct node;
struct request;

void hf__again_add(struct engine *e, struct node *n, struct request *r);
void hf__again_send(struct engine *e, struct node *n);
void hf__again_tick(struct engine *e, struct node *n);
void hf__again_shut(struct engine *e, struct node *n);

#endif
