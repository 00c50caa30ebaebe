/*
 * client.h: a world for one client: a clock that only moves when nothing else
 * can happen, and a network whose every address is the same server.
 *
 * The server reads commands and answers each with the next piece of a script;
 * the pieces are separated by a byte 0xff.  A piece is sent as it is, but for
 *
 *   0x01   the server's clock in microseconds, as digits
 *   0x02   the channel that was subscribed to last, as a bulk string
 *   0x03   "<owner> <attempt> <number>" of the last proposal that queues
 *   0x04   the channel without the "$<length>" in front
 *
 * and its first byte may say something else:
 *
 *   '~'    no answer to this command
 *   '^'    hang up
 *   '@'    sent to the link with subscriptions, unasked; the next piece is
 *          the answer
 *
 * What every connection begins with is answered properly, unless the script is
 * to answer that too.
 */
#ifndef HF_FUZZ_CLIENT_H
#define HF_FUZZ_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#define COMMANDS_MAX 120 /* answered in one run; then the server is gone */

/* What the server does when its script is over. */
enum script_end { END_ERROR, END_SILENCE, END_HANG_UP };

/* Forget everything; from now on connections are answered by this script.
 * `data` is borrowed. */
void world_begin(const uint8_t *data, size_t size, int answers_all,
                 enum script_end end);

/* Close what is left of the connections. */
void world_end(void);

/* Let the server read and answer; 1 if anything happened. */
int server_step(void);

/* A new connection.  The client's end of it, or -1: the server is gone. */
int server_connect(void);

void server_begin(const uint8_t *data, size_t size, int answers_all,
                  enum script_end end);
void server_end(void);

/* The time, as everybody here sees it. */
int64_t world_now_us(void);
int64_t world_wall_us(void);
void world_pass_us(int64_t us);

#endif
