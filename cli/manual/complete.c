/*
 * manual/complete.c: what could stand where the cursor is, for all shells
 * alike.
 *
 * One rule: nothing is offered that a shell would expand, and nothing of ours
 * where the words are another command's.
 */
#include "command.h"
#include "common/exit.h"
#include "manual/complete.h"
#include "session/session.h"

#include <stdio.h>
#include <string.h>

/* What was typed before the cursor's word. */
struct typed {
    const struct command *cmd;
    const char *word;                 /* the one under the cursor, so far */
    const struct option_row *pending; /* `word` is this one's value */
    int words;                        /* that are no options, behind cmd */
    int is_over;                      /* "--": no options come any more */
};

static void offer(const struct typed *t, const char *word, size_t len,
                  const char *about)
{
    size_t so_far = strlen(t->word);
    if (so_far > len || memcmp(word, t->word, so_far) != 0) return;
    printf("%.*s\t%s\n", (int)len, word, about);
}

/* ---- names ---- */

/* Only letters, digits and signs that have no meaning to a shell; and no minus
 * first, which would begin an option. */
int name_is_plain(const char *name, size_t len)
{
    static const char signs[] = "_.,:@+/-";
    if (len == 0 || name[0] == '-') return 0;
    for (size_t i = 0; i < len; i++) {
        char c = name[i];
        int is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
                        || (c >= '0' && c <= '9');
        if (!is_letter && (!c || !strchr(signs, c))) return 0;
    }
    return 1;
}

static int name_offer(const struct hf_list_row *row, void *user)
{
    if (name_is_plain(row->name, row->name_len))
        offer(user, row->name, row->name_len, "lock");
    return 0;
}

static void names_offer(struct typed *t)
{
    struct session s;
    struct options o;
    options_init(&o);
    o.quiet = 1;
    if (session_open(&s, &o, NULL, HF_CLIENT_OWN_LOOP, NULL, NULL) != EXIT_OK)
        return;
    (void)hf_client_list(s.client, NULL, name_offer, t, NULL);
    session_close(&s);
}

/* ---- commands, options and their values ---- */

static void commands_offer(const struct typed *t)
{
    for (size_t i = 0; commands[i]; i++)
        if (!commands[i]->hidden)
            offer(t, commands[i]->name, strlen(commands[i]->name),
                  commands[i]->summary);
}

/* 1 if the user types the choice as it stands: capitals stand for what the user
 * chooses, as in "exec:CMD". */
static int is_literal(const char *choice, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (choice[i] >= 'A' && choice[i] <= 'Z') return 0;
    return len > 0 && choice[0] >= 'a' && choice[0] <= 'z';
}

/* "set|down|CMD": the words between the bars. */
static void choices_offer(const struct typed *t, const char *choices)
{
    while (choices && *choices) {
        size_t len = strcspn(choices, "|");
        if (is_literal(choices, len)) offer(t, choices, len, "");
        choices += len + (choices[len] == '|');
    }
}

/* A value that is one of several words. */
static void value_offer(const struct typed *t, const struct option_row *row)
{
    if (strchr(row->value, '|')) choices_offer(t, row->value);
}

static void options_offer(const struct typed *t)
{
    for (size_t i = 0; i < t->cmd->options_len; i++) {
        const struct option_row *row = &t->cmd->options[i];
        for (const char *p = row->names; *p;) {
            char name[64];
            size_t len = word_len(p);
            snprintf(name, sizeof(name), "--%.*s", (int)len, p);
            offer(t, name, strlen(name), row->help);
            p += len + (p[len] == ' ');
        }
    }
}

/* "--name=valu": the values, with the name in front of each. */
static void assignment_offer(const struct typed *t, const char *equals)
{
    const char *name = t->word + 2;
    const struct option_row *row =
        option_by_name(t->cmd, name, (size_t)(equals - name));
    if (!row || !row->value || !strchr(row->value, '|')) return;
    for (const char *p = row->value; *p;) {
        char text[128];
        size_t len = strcspn(p, "|");
        snprintf(text, sizeof(text), "%.*s%.*s", (int)(equals + 1 - t->word),
                 t->word, (int)len, p);
        if (is_literal(p, len)) offer(t, text, strlen(text), "");
        p += len + (p[len] == '|');
    }
}

/* ---- what was typed ---- */

/* "-nw": the value of the last letter comes next. */
static const struct option_row *letters_pending(const struct command *cmd,
                                                const char *letters)
{
    for (; *letters; letters++) {
        const struct option_row *row = option_by_letter(cmd, *letters);
        if (row && row->value) return letters[1] ? NULL : row;
    }
    return NULL;
}

static void word_take(struct typed *t, const char *word)
{
    if (t->pending) {
        t->pending = NULL;
    } else if (strcmp(word, "--") == 0) {
        t->is_over = 1;
    } else if (strncmp(word, "--", 2) == 0 && !strchr(word, '=')) {
        const struct option_row *row =
            option_by_name(t->cmd, word + 2, strlen(word + 2));
        if (row && row->value) t->pending = row;
    } else if (word[0] == '-' && word[1] && word[1] != '-') {
        t->pending = letters_pending(t->cmd, word + 1);
    } else if (word[0] != '-') {
        t->words++;
    }
}

static void argument_offer(struct typed *t)
{
    if (t->cmd == &cmd_help || t->cmd == &cmd_man) {
        if (t->words == 0) commands_offer(t);
    } else if (t->words > 0) {
        return;
    } else if (t->cmd->actions) {
        choices_offer(t, t->cmd->actions);
    } else if (t->cmd->takes_lock) {
        names_offer(t);
    }
}

static void typed_offer(struct typed *t)
{
    const char *equals = strchr(t->word, '=');
    /* After NAME comes the user's command: nothing of ours is offered. */
    if (t->is_over || (t->cmd->runs_command && t->words > 1)) return;
    if (t->pending)
        value_offer(t, t->pending);
    else if (equals && strncmp(t->word, "--", 2) == 0)
        assignment_offer(t, equals);
    else if (t->word[0] == '-')
        options_offer(t);
    else
        argument_offer(t);
}

void words_complete(int len, char **words)
{
    struct typed t = {.word = len > 0 ? words[len - 1] : ""};
    if (len <= 1) {
        commands_offer(&t);
        return;
    }
    t.cmd = command_find(words[0]);
    if (!t.cmd || t.cmd->hidden) return;
    for (int i = 1; i < len - 1 && !t.is_over; i++) word_take(&t, words[i]);
    typed_offer(&t);
}
