/*
 * sim_ticket.h: tickets of detached holds on their way from one client to
 * another.
 */
#ifndef HF_SIM_TICKET_H
#define HF_SIM_TICKET_H

#include "engine/op.h"

struct sim;
struct actor;
struct errand;
struct sim_client;

#define TICKETS_MAX 24

enum ticket_state {
    TICKET_NONE,
    TICKET_OUT,   /* nobody uses it */
    TICKET_TAKEN, /* by an actor */
    TICKET_SPENT, /* released, or lost: it must be of no use any more */
    TICKET_DOUBT  /* its release may yet arrive: nobody uses it again */
};

struct passed_ticket {
    enum ticket_state state;
    struct ticket t;
    int name;
    int64_t confirmed_us; /* true time: start of the last round that counted */
    int64_t valid_us;     /* true time: as its last holder believed */
};

/* sim_ticket.c */
void ticket_draw(struct sim *s, unsigned allowed);
void ticket_seed(struct sim *s, struct sim_client *c);
void ticket_plan(struct actor *a, struct op *op);
int ticket_detach(struct actor *a);
int ticket_take(struct actor *a);
void ticket_over(struct actor *a, int is_released, int status);
void ticket_drop(struct sim_client *c);
/* Of a detached hold?  Others have attempts that are counted up. */
int ticket_is_of(uint64_t attempt);
int ticket_is_wanted(const struct sim *s, uint64_t attempt);
/* check_ticket.c */
void check_ticket_used(const struct errand *er);

#endif
