/* packet.h: statements that go to the server together. */
#ifndef HF_MYSQL_PACKET_H
#define HF_MYSQL_PACKET_H

#include <mysql.h>

#include "backend/mysql/text.h"

#define PACKET_ITEMS_MAX 64
#define PACKET_TEXT_MAX (256 * 1024) /* no further item is added beyond it */

struct link;
struct sql_job;

enum item_kind {
    ITEM_GREET,           /* without which the link is no use */
    ITEM_GREET_VARIABLES, /* which server answers: */
    ITEM_GREET_STATUS,
    ITEM_GREET_CLOCK,
    ITEM_GREET_SCHEMA,
    ITEM_GREET_SESSION, /* of session=on: which connection answers */
    ITEM_JOB,           /* the statements of `job` */
    ITEM_LOOK,          /* have watched names news? */
    ITEM_MARK /* they are still waited for; a look is in the same packet */
};

struct packet_item {
    enum item_kind kind;
    unsigned statements; /* the last of them has the answer */
    unsigned answered;
    struct sql_job *job;
};

struct packet {
    int is_sent;
    struct text text;
    size_t len, at; /* items, and which of them is answered next */
    struct packet_item items[PACKET_ITEMS_MAX];
};

/* Begin a new one; the last is answered. */
void hf__mysql_packet_begin(struct link *l);

/* The statements that follow in packet.text, each with a semicolon behind it
 * but the last, are these. */
void hf__mysql_packet_add(struct link *l, enum item_kind kind,
                          unsigned statements, struct sql_job *job);

/* Is there room for another item? */
int hf__mysql_packet_has_room(const struct link *l);

/* Send it, if there is anything in it.  0, or -1: no memory; the link is to be
 * given up. */
int hf__mysql_packet_send(struct link *l);

/* What a step of libmariadb has brought: WIRE_*.  The link may be down then. */
void hf__mysql_packet_take(struct link *l, int said);

#endif
