/*
 * play/draw/mermaid.c: a run as a sequence diagram for Mermaid, which many
 * pages show as a drawing.
 */
#include "play/draw/draw.h"

#include <string.h>

/* Mermaid ends a text at ';' and begins a comment at '#'. */
static const char *plain(char *text)
{
    for (char *c = text; *c; c++)
        if (*c == ';' || *c == '#' || *c == ':') *c = ',';
    return text;
}

static void event_draw(FILE *out, const struct play *p, const struct event *e)
{
    char words[2 * EVENT_TEXT_MAX];
    plain((char *)event_words(p, e, words, sizeof(words)));
    if (e->kind == EVENT_ACCEPTED)
        fprintf(out, "    L%d->>L%d: %s\n", e->other, e->lane, words);
    else if (e->kind == EVENT_REFUSED)
        fprintf(out, "    L%d-xL%d: %s\n", e->other, e->lane, words);
    else
        fprintf(out, "    Note over L%d: %.3f s, %s\n", e->lane,
                (double)e->at_us / 1e6, words);
}

/* Renewals would fill the page. */
static int is_drawn(const struct play *p, const struct event *e)
{
    struct bar bars[BARS_MAX];
    int len = record_bars(&p->record, bars);
    if (e->kind != EVENT_BELIEVES) return 1;
    for (int i = 0; i < len; i++)
        if (bars[i].kind == BAR_BELIEVES && bars[i].lane == e->lane
            && bars[i].from_us == e->at_us)
            return 1;
    return 0;
}

void draw_mermaid(FILE *out, const struct play *p)
{
    char verdict[sizeof(p->verdict)];
    memcpy(verdict, p->verdict, sizeof(verdict));
    fprintf(out, "sequenceDiagram\n    title %s\n",
            p->way == WAY_NAIVE ? "The naive way" : "With holdfast");
    for (int i = 0; i < p->record.lanes_len; i++)
        fprintf(out, "    participant L%d as %s\n", i, p->record.lanes[i].name);
    for (int i = 0; i < p->record.events_len; i++)
        if (is_drawn(p, &p->record.events[i]))
            event_draw(out, p, &p->record.events[i]);
    fprintf(out, "    Note over L0,L%d: %s\n", p->record.lanes_len - 1,
            plain(verdict));
}
