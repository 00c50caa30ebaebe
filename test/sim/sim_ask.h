/*
 * sim_ask.h: a question that a client asks about a lock, or its wish that the
 * lock be broken, and what the nodes had when they heard of it.  The rule: an
 * answer is judged by what the nodes had, not by what they said.
 */
#ifndef HF_SIM_ASK_H
#define HF_SIM_ASK_H

#include "engine/op.h"

struct sim;
struct sim_node;
struct sim_client;
struct packet;

#define QUERIES_MAX 2 /* of one client, at a time */
#define SAID_MAX 16

/* What a node had of the name at a moment in which it was asked. */
struct said {
    int node;
    int locked;
    int64_t fence;
    char owner[OWNER_LEN_MAX];
};

struct query {
    struct op op; /* first: the engine gives it back */
    struct look look;
    struct sim_client *client;
    uint64_t serial; /* 0: free */
    int name;
    int said_len; /* more than fit: it is not judged */
    struct said said[SAID_MAX];
};

/* sim_ask.c */
void ask_draw(struct sim *s, unsigned allowed);
void ask_start(struct sim *s);
void ask_done(struct sim_client *c, struct op *op);
/* check_ask.c */
void check_ask_said(struct sim *s, const struct sim_node *n,
                    const struct packet *p);
void check_asked(const struct query *q);
void check_refusal_comes(struct sim_client *c, int node,
                         const struct packet *p);
void check_refused(struct sim_client *c, const struct packet *p);

#endif
