/*
 * sim_net.h: packets, connections and the backend that the engine sees.  The
 * rule: a packet is a copy; nothing in it is touched by two sides.
 */
#ifndef HF_SIM_NET_H
#define HF_SIM_NET_H

#include "sim/sim.h"

/* sim_net.c */
enum packet_kind {
    PACKET_HELLO, /* connect */
    PACKET_WELCOME,
    PACKET_REFUSED, /* nobody listens there */
    PACKET_REQUEST,
    PACKET_ANSWER,
    PACKET_SUBSCRIBE, /* name */
    PACKET_UNSUBSCRIBE,
    PACKET_SUBSCRIBED,
    PACKET_MESSAGE, /* the name was released */
    PACKET_HANDED,  /* the name was handed over */
    PACKET_BEAT     /* the client is alive */
};

struct packet {
    struct packet *all_next, *next;
    struct life *life;
    enum packet_kind kind;
    uint64_t number; /* among those its life sent to the node */
    int64_t sent_us;
    int was_delayed;
    int is_copy;
    int name;     /* SUBSCRIBE, UNSUBSCRIBE, SUBSCRIBED: the topic */
    int queues;   /* SUBSCRIBE: to hand-overs as well */
    int is_other; /* WELCOME: to another session than before */
    struct handoff handed;
    char handed_to[OWNER_LEN_MAX];
    struct request req; /* a copy; `origin` is the engine's */
    struct request *origin;
    struct reply rep;
    struct boot boot;    /* what an answer to VERB_BOOT points to */
    struct hf_info info; /* and one to INSPECT or BREAK */
    int64_t forward_us; /* answer: when the node's clock was last set forward */
    int64_t kept_us;    /* answer: since when the node has the lock */
};

struct life *net_connect(struct backend_conn *conn, enum channel channel);
struct packet *net_packet(struct sim *s, struct life *l, enum packet_kind kind);
void net_free(struct sim *s, struct packet *p);
void net_send(struct sim *s, struct packet *p);
void net_reply(struct sim *s, struct packet *p);
/* When a client hears of the end of its connection. */
enum news { NEWS_KNOWN, NEWS_SOON, NEWS_LATE };
void net_break(struct sim *s, struct life *l, enum news news);
void net_copy_later(struct sim *s, const struct packet *p);
void net_delete(struct sim *s);

/* sim_link.c */
enum chan_state { CHAN_DOWN, CHAN_CONNECTING, CHAN_UP };

struct chan {
    enum channel channel;
    enum chan_state state;
    struct life *life;
    int64_t due_us; /* connecting: give up; down: try again */
    int failures;
};

struct backend_conn {
    struct backend_env *env;
    struct sim *sim;
    struct sim_client *client;
    int node;
    int is_dead; /* its client crashed: nothing goes out */
    struct chan command, watch;
    struct request *queue, **queue_end;    /* not sent yet */
    struct request *flying, **flying_end;  /* sent, in order */
    unsigned watched;                      /* topics wanted, by bit */
    unsigned queued;                       /* of them, hand-overs as well */
    struct request *asked[SIM_TOPICS_MAX]; /* VERB_WATCH, unanswered */
    struct owned *owned;                   /* sim_session_link.c; or NULL */
    int had_session;
    int64_t beat_us;
};

extern const struct backend sim_backend;
void link_receive(struct backend_conn *c, struct packet *p);
void link_lost(struct backend_conn *c, struct life *l);
void link_answer(struct backend_conn *c, struct request *req,
                 enum verdict verdict);
void chan_start(struct backend_conn *c, struct chan *ch);
void chan_down(struct backend_conn *c, struct chan *ch);
int name_index(const char *name);

/* sim_watch.c */
void watch_request(struct backend_conn *c, struct request *req);
void watch_up(struct backend_conn *c);
void watch_down(struct backend_conn *c);
void watch_receive(struct backend_conn *c, struct packet *p);
int topic_is_in(unsigned topics, int name); /* of either side */
int64_t watch_due(const struct backend_conn *c);
void watch_expire(struct backend_conn *c, int64_t now_us);

#endif
