/*
 * client_server.c: the server of client.h.  One rule: it reads whole commands
 * and answers each of them at most once, whatever the script says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/limits.h"
#include "fuzz/lib/client.h"

#define LINKS_MAX 48
#define WORDS_MAX 64
#define BUFFER_MAX (128 * 1024)
#define PIECE_END 0xff

struct text {
    const char *at;
    size_t len;
};

struct peer {
    int fd; /* 0: none */
    size_t got_len;
    char got[BUFFER_MAX];
};

static struct peer peers[LINKS_MAX];
static const uint8_t *script, *script_over;
static int answers_everything;
static enum script_end ending;
static int commands;
static int listener = -1; /* the peer that subscribed last */
static char channel[600];
static char proposal[200];

void server_begin(const uint8_t *data, size_t size, int answers_all,
                  enum script_end end)
{
    script = data;
    script_over = data + size;
    answers_everything = answers_all;
    ending = end;
    commands = 0;
    listener = -1;
    channel[0] = proposal[0] = '\0';
}

static void peer_close(struct peer *p)
{
    if (p->fd > 0) close(p->fd);
    p->fd = 0;
    p->got_len = 0;
}

void server_end(void)
{
    for (int i = 0; i < LINKS_MAX; i++) peer_close(&peers[i]);
}

int server_connect(void)
{
    int pair[2], type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
    if (commands >= COMMANDS_MAX) return -1;
    for (int i = 0; i < LINKS_MAX; i++) {
        if (peers[i].fd > 0) continue;
        if (syscall(SYS_socketpair, AF_UNIX, type, 0, pair) != 0) abort();
        peers[i].fd = pair[1];
        return pair[0];
    }
    return -1;
}

/* ---- answers ---- */

static void say(struct peer *p, const char *bytes, size_t len)
{
    if (p->fd > 0 && send(p->fd, bytes, len, MSG_NOSIGNAL) < 0) return;
}

static void say_text(struct peer *p, const char *text)
{
    say(p, text, strlen(text));
}

static void say_bulk(struct peer *p, const char *text)
{
    char head[32];
    int n = snprintf(head, sizeof head, "$%zu\r\n", strlen(text));
    say(p, head, (size_t)n);
    say_text(p, text);
}

static void say_number(struct peer *p, int64_t number)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%lld", (long long)number);
    say(p, text, (size_t)n);
}

static void say_piece(struct peer *p, const uint8_t *at, const uint8_t *end)
{
    while (at < end) {
        const uint8_t *plain = at;
        while (at < end && (*at == 0 || *at > 4)) at++;
        if (at > plain) say(p, (const char *)plain, (size_t)(at - plain));
        if (at == end) return;
        switch (*at++) {
        case 1:
            say_number(p, world_wall_us());
            break;
        case 2:
            say_bulk(p, channel);
            break;
        case 3:
            say_text(p, proposal);
            break;
        default:
            say_text(p, channel);
            break;
        }
    }
}

static void say_last(struct peer *p)
{
    if (ending == END_ERROR) say_text(p, "-ERR the script is over\r\n");
    if (ending == END_HANG_UP) peer_close(p);
}

static void say_next(struct peer *p)
{
    while (script < script_over) {
        const uint8_t *at = script;
        while (script < script_over && *script != PIECE_END) script++;
        const uint8_t *end = script;
        if (script < script_over) script++;
        if (at < end && *at == '@') {
            if (listener >= 0) say_piece(&peers[listener], at + 1, end);
            continue;
        }
        if (at < end && *at == '^')
            peer_close(p);
        else if (at == end || *at != '~')
            say_piece(p, at, end);
        return;
    }
    say_last(p);
}

/* ---- commands ---- */

static int is_word(const struct text *t, const char *word)
{
    return t->len == strlen(word) && !memcmp(t->at, word, t->len);
}

static int is_subscribing(const struct text *verb)
{
    static const char word[] = "SUBSCRIBE";
    size_t len = sizeof word - 1;
    return verb->len >= len && !memcmp(verb->at + verb->len - len, word, len);
}

static void text_keep(const struct text *t, char *out, size_t size)
{
    size_t len = t->len < size ? t->len : size - 1;
    memcpy(out, t->at, len);
    out[len] = '\0';
}

/* "<owner> <attempt> <number> <lease> ": all but the lease. */
static void proposal_find(const struct text *words, int len)
{
    for (int i = 3; i < len; i++) {
        char text[sizeof proposal];
        if (words[i].len < 40 || words[i].at[36] != ':') continue;
        text_keep(&words[i], text, sizeof text);
        char *end = text;
        for (int n = 0; end && n < 3; n++) end = strchr(end + (n > 0), ' ');
        if (!end) continue;
        *end = '\0';
        memcpy(proposal, text, sizeof text);
        return;
    }
}

static void say_subscribed(struct peer *p, const struct text *words, int len)
{
    char verb[16];
    text_keep(&words[0], verb, sizeof verb);
    for (char *c = verb; *c; c++)
        if (*c >= 'A' && *c <= 'Z') *c = (char)(*c - 'A' + 'a');
    for (int i = 1; i < len; i++) {
        text_keep(&words[i], channel, sizeof channel);
        say_text(p, "*3\r\n");
        say_bulk(p, verb);
        say_text(p, "\r\n");
        say_bulk(p, channel);
        say_text(p, "\r\n:1\r\n");
    }
}

/* What every connection begins with.  0: it is something else. */
static int say_greeting(struct peer *p, const struct text *words, int len)
{
    static const struct {
        const char *verb, *answer;
    } table[] = {
        {"AUTH", "+OK\r\n"},
        {"SELECT", "+OK\r\n"},
        {"CLIENT", "+OK\r\n"},
        {"SCRIPT", "+OK\r\n"},
        {"ASKING", "+OK\r\n"},
        {"PING", "+PONG\r\n"},
        {"WAIT", ":1\r\n"},
        {"WAITAOF", "*2\r\n:1\r\n:1\r\n"},
        {"ROLE", "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n"},
        {"INFO", "$11\r\nrole:master\r\n"},
        {"CONFIG", "*2\r\n$1\r\na\r\n$6\r\nalways\r\n"},
    };
    if (is_word(&words[0], "TIME")) {
        char text[64];
        int64_t wall = world_wall_us();
        snprintf(text, sizeof text, "*2\r\n$10\r\n%lld\r\n$6\r\n%06lld\r\n",
                 (long long)(wall / US_PER_S), (long long)(wall % US_PER_S));
        say_text(p, text);
        return 1;
    }
    if (is_subscribing(&words[0])) {
        say_subscribed(p, words, len);
        return 1;
    }
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (is_word(&words[0], table[i].verb)) {
            say_text(p, table[i].answer);
            return 1;
        }
    return 0;
}

static void command_answer(struct peer *p, const struct text *words, int len)
{
    commands++;
    if (is_subscribing(&words[0])) listener = (int)(p - peers);
    if (words[0].len >= 4 && !memcmp(words[0].at, "EVAL", 4))
        proposal_find(words, len);
    if (answers_everything || !say_greeting(p, words, len)) say_next(p);
    if (commands < COMMANDS_MAX) return;
    server_end();
}

/* ---- reading ---- */

/* A number behind `mark`; -1: not whole yet. */
static long number_take(const char **at, const char *end, char mark)
{
    const char *line = memchr(*at, '\n', (size_t)(end - *at));
    if (!line) return -1;
    if (**at != mark) abort(); /* the client writes no such thing */
    long number = strtol(*at + 1, NULL, 10);
    *at = line + 1;
    return number;
}

/* One whole command; the bytes it took, 0 if there is none yet. */
static size_t command_read(const char *from, const char *end,
                           struct text *words, int *len)
{
    const char *at = from;
    if (at == end) return 0;
    long count = number_take(&at, end, '*');
    if (count < 0) return 0;
    *len = 0;
    for (long i = 0; i < count; i++) {
        if (at == end) return 0;
        long size = number_take(&at, end, '$');
        if (size < 0 || end - at < size + 2) return 0;
        if (*len < WORDS_MAX) words[(*len)++] = (struct text){at, (size_t)size};
        at += size + 2;
    }
    return (size_t)(at - from);
}

static int peer_step(struct peer *p)
{
    struct text words[WORDS_MAX];
    int len = 0, done = 0;
    ssize_t n =
        recv(p->fd, p->got + p->got_len, BUFFER_MAX - p->got_len, MSG_DONTWAIT);
    if (n == 0) {
        peer_close(p);
        return 1;
    }
    if (n > 0) p->got_len += (size_t)n;
    const char *at = p->got, *end = p->got + p->got_len;
    while (p->fd > 0) {
        size_t used = command_read(at, end, words, &len);
        if (used == 0) break;
        at += used;
        done = 1;
        command_answer(p, words, len);
    }
    if (p->fd > 0 && done) {
        p->got_len = (size_t)(end - at);
        memmove(p->got, at, p->got_len);
    }
    return done;
}

int server_step(void)
{
    int done = 0;
    for (int i = 0; i < LINKS_MAX; i++)
        if (peers[i].fd > 0) done |= peer_step(&peers[i]);
    return done;
}
