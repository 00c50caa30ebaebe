/* said.h: the words of a server, as a part of an error text. */
#ifndef HF_SQL_SAID_H
#define HF_SQL_SAID_H

#define SAID_MAX 140 /* bytes of the server's own words, and the NUL */

/* The first line, without control characters, cut at a word. */
void hf__sql_said_copy(const char *said, char out[SAID_MAX]);

#endif
