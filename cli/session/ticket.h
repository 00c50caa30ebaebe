/*
 * session/ticket.h: the ticket by which a lock is renewed and released.
 */
#ifndef HOLDFAST_CLI_SESSION_TICKET_H
#define HOLDFAST_CLI_SESSION_TICKET_H

/* The ticket in `word`, in $HOLDFAST_TICKET if it is NULL, or on stdin if it
 * is "-", into `ticket` of HF_TICKET_MAX bytes.  0, or an exit code. */
int ticket_read(const char *word, char *ticket);

#endif
