/*
 * play/draw/panel.c: one run: a heading, and below it a lane for each client,
 * store and resource, over one axis of time.
 */
#include "play/draw/draw.h"

#define ROW 14       /* of labels */
#define BAR 16       /* height */
#define BAR_STORE 12 /* of stores, whose bars are facts and not beliefs */
#define LANE_GAP 13
#define COLUMNS 72
#define COLUMNS_BOLD 62
#define COLORS 6
#define RIGHT (PANEL_WIDTH - PANEL_EDGE)

struct panel {
    FILE *out;
    const struct play *p;
    struct bar bars[BARS_MAX];
    int bars_len;
    double bar_y[LANES_MAX]; /* where the bars of each lane are */
    double top_y;            /* of the lanes */
};

static double time_x(const struct panel *n, int64_t at_us)
{
    double whole = (double)n->p->record.ended_us;
    double part = whole > 0 ? (double)at_us / whole : 0;
    if (part < 0) part = 0;
    if (part > 1) part = 1;
    return PANEL_EDGE + part * (RIGHT - PANEL_EDGE);
}

static double bar_height(const struct panel *n, int lane)
{
    return n->p->record.lanes[lane].kind == LANE_STORE ? BAR_STORE : BAR;
}

/* ---- labels ------------------------------------------------------------ */

static void write_words(const struct panel *n, const struct event *e,
                        struct label *l)
{
    char fence[32] = "";
    char letter = n->p->record.lanes[e->other].name[7]; /* "client A" */
    if (e->fence)
        snprintf(fence, sizeof(fence), ", fence no. %d",
                 record_fence_place(&n->p->record, e->fence));
    int is_stale = record_is_stale(&n->p->record, e);
    const char *what = e->kind == EVENT_REFUSED ? "refused"
                       : is_stale               ? "too late, but taken"
                                                : "taken";
    l->class = e->kind == EVENT_REFUSED || is_stale ? "l r" : "l g";
    snprintf(l->text, sizeof(l->text), "%c writes%s: %s", letter, fence, what);
}

static const char *short_words(const struct event *e)
{
    switch (e->kind) {
    case EVENT_TAKEN:
        return e->text[0] ? e->text : "does not get it";
    case EVENT_PAUSED:
        return "paused";
    case EVENT_RESUMED:
        return "wakes up";
    case EVENT_KILLED:
        return "killed";
    case EVENT_ENDS:
    case EVENT_NOTE:
    case EVENT_STARTED:
        return e->text;
    default:
        return "";
    }
}

static int bar_begins(const struct panel *n, const struct event *e)
{
    for (int i = 0; i < n->bars_len; i++)
        if (n->bars[i].kind == BAR_BELIEVES && n->bars[i].lane == e->lane
            && n->bars[i].from_us == e->at_us)
            return 1;
    return 0;
}

/* 0 if the event needs no text. */
static int event_label(const struct panel *n, const struct event *e,
                       struct label *l)
{
    *l = (struct label){.x = time_x(n, e->at_us), .class = "l"};
    if (e->kind == EVENT_ACCEPTED || e->kind == EVENT_REFUSED)
        write_words(n, e, l);
    else if (e->kind == EVENT_BELIEVES && bar_begins(n, e) && e->fence)
        snprintf(l->text, sizeof(l->text), "granted, fence no. %d",
                 record_fence_place(&n->p->record, e->fence));
    else if (e->kind == EVENT_BELIEVES && bar_begins(n, e))
        snprintf(l->text, sizeof(l->text), "%s",
                 e->text[0] ? e->text : "granted");
    else
        snprintf(l->text, sizeof(l->text), "%s", short_words(e));
    if (e->kind == EVENT_KILLED) l->class = "l r";
    return l->text[0] != 0;
}

/* A belief whose end was known before, with no event of its own there. */
static int end_label(const struct panel *n, const struct bar *b,
                     struct label *l)
{
    if (b->kind != BAR_BELIEVES || b->to_us >= n->p->record.ended_us) return 0;
    for (int i = 0; i < n->p->record.events_len; i++) {
        const struct event *e = &n->p->record.events[i];
        int64_t apart_us = e->at_us - b->to_us;
        if (e->lane == b->lane && apart_us < 25000 && apart_us > -25000
            && (e->kind == EVENT_ENDS || e->kind == EVENT_KILLED))
            return 0;
    }
    *l = (struct label){.x = time_x(n, b->to_us), .class = "l"};
    snprintf(l->text, sizeof(l->text), "its time is over");
    return 1;
}

static int lane_labels(const struct panel *n, int lane,
                       struct label labels[LABELS_MAX])
{
    int len = 0;
    for (int i = 0; i < n->p->record.events_len && len < LABELS_MAX - 1; i++) {
        const struct event *e = &n->p->record.events[i];
        if (e->lane == lane) len += event_label(n, e, &labels[len]);
    }
    for (int i = 0; i < n->bars_len && len < LABELS_MAX - 1; i++)
        if (n->bars[i].lane == lane)
            len += end_label(n, &n->bars[i], &labels[len]);
    return len;
}

/* The name is on the row of the uppermost labels if it meets none of them. */
static int name_row(const char *name, const struct label *labels, int len,
                    int rows)
{
    double to = PANEL_EDGE + 1.15 * ink_width(name) + 8;
    int top = rows > 0 ? rows - 1 : 0;
    for (int i = 0; i < len; i++)
        if (labels[i].row == top && labels[i].from < to) return rows;
    return top;
}

/* ---- bars -------------------------------------------------------------- */

static void bar_class(const struct panel *n, const struct bar *b, char *out,
                      size_t size)
{
    int client = b->kind == BAR_HAS ? b->other : b->lane;
    switch (b->kind) {
    case BAR_WAITS:
        snprintf(out, size, "w");
        break;
    case BAR_PAUSED:
        snprintf(out, size, "p");
        break;
    case BAR_DOWN:
        snprintf(out, size, "d");
        break;
    default:
        snprintf(out, size, "c%d%s", client % COLORS,
                 b->kind == BAR_HAS ? " h" : "");
    }
    (void)n;
}

static const char *bar_words(const struct panel *n, const struct bar *b)
{
    switch (b->kind) {
    case BAR_WAITS:
        return "waits";
    case BAR_PAUSED:
        return "paused";
    case BAR_DOWN:
        return "down";
    case BAR_HAS:
        return n->p->record.lanes[b->other].name;
    default:
        return "believes to hold the lock";
    }
}

static void bar_draw(const struct panel *n, const struct bar *b)
{
    char class[16], tip[160];
    double x = time_x(n, b->from_us), width = time_x(n, b->to_us) - x;
    double height = bar_height(n, b->lane), y = n->bar_y[b->lane];
    const char *words = bar_words(n, b);
    bar_class(n, b, class, sizeof(class));
    int len = snprintf(tip, sizeof(tip), "%s: %s, %.3f to %.3f s",
                       n->p->record.lanes[b->lane].name, words,
                       (double)b->from_us / 1e6, (double)b->to_us / 1e6);
    if (b->fence && len > 0 && (size_t)len < sizeof(tip))
        snprintf(tip + len, sizeof(tip) - (size_t)len, ", fence %llu",
                 (unsigned long long)b->fence);
    if (b->kind == BAR_PAUSED) {
        y -= 3;
        height += 6;
    }
    ink_box(n->out, x, y, width, height, class, tip);
    if (b->kind == BAR_HAS && width > ink_width(words) + 6)
        ink_text(n->out, x + 4, y + height - 2.5, "i", words);
}

static void bars_draw(const struct panel *n, enum bar_kind kind)
{
    for (int i = 0; i < n->bars_len; i++)
        if (n->bars[i].kind == kind) bar_draw(n, &n->bars[i]);
}

/* ---- what is wrong ----------------------------------------------------- */

static int overlap_labels(const struct panel *n, const struct overlap *overlaps,
                          int len, struct label labels[LABELS_MAX])
{
    int found = 0;
    for (int i = 0; i < len && found < 4; i++) {
        int64_t ms = (overlaps[i].to_us - overlaps[i].from_us) / 1000;
        struct label *l = &labels[found];
        if (ms == 0) continue;
        *l = (struct label){.x = time_x(n, overlaps[i].from_us) + 1,
                            .class = "l r"};
        snprintf(l->text, sizeof(l->text), "two believers, for %lld ms",
                 (long long)ms);
        found++;
    }
    return found;
}

static void overlap_draw(const struct panel *n, const struct overlap *o)
{
    char tip[160];
    double x = time_x(n, o->from_us), width = time_x(n, o->to_us) - x;
    double bottom_y = n->bar_y[o->lanes[1]];
    snprintf(tip, sizeof(tip),
             "%s and %s both believe to hold the lock, %.3f to %.3f s",
             n->p->record.lanes[o->lanes[0]].name,
             n->p->record.lanes[o->lanes[1]].name, (double)o->from_us / 1e6,
             (double)o->to_us / 1e6);
    if (n->bar_y[o->lanes[0]] > bottom_y) bottom_y = n->bar_y[o->lanes[0]];
    ink_box(n->out, x, n->top_y, width, bottom_y + BAR + 3 - n->top_y, "x",
            tip);
    for (int i = 0; i < 2; i++)
        ink_box(n->out, x, n->bar_y[o->lanes[i]], width, BAR, "y", tip);
}

/* ---- marks of writes --------------------------------------------------- */

static int is_write(const struct event *e)
{
    return e->kind == EVENT_ACCEPTED || e->kind == EVENT_REFUSED;
}

/* From its client to the resource, behind all texts. */
static void write_line(const struct panel *n, const struct event *e)
{
    int is_bad = e->kind == EVENT_REFUSED || record_is_stale(&n->p->record, e);
    fprintf(n->out, "<path d=\"M%.1f %.1fV%.1f\" class=\"k%s\"/>\n",
            time_x(n, e->at_us), n->bar_y[e->other] + BAR, n->bar_y[e->lane],
            is_bad ? " kr" : "");
}

static void write_mark(const struct panel *n, const struct event *e)
{
    double x = time_x(n, e->at_us), y = n->bar_y[e->lane] + BAR / 2.0;
    int is_bad = e->kind == EVENT_REFUSED || record_is_stale(&n->p->record, e);
    fprintf(n->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"7\" class=\"m%s\"/>\n",
            x, y, is_bad ? " mr" : "");
    if (e->kind == EVENT_REFUSED)
        fprintf(n->out, "<path d=\"M%.1f %.1fl6 6m0 -6l-6 6\" class=\"q\"/>\n",
                x - 3, y - 3);
    else
        fprintf(n->out, "<path d=\"M%.1f %.1fl2.5 3l4 -6\" class=\"q\"/>\n",
                x - 3.2, y + .3);
}

static void writes_draw(const struct panel *n,
                        void (*draw)(const struct panel *,
                                     const struct event *))
{
    for (int i = 0; i < n->p->record.events_len; i++)
        if (is_write(&n->p->record.events[i])) draw(n, &n->p->record.events[i]);
}

/* ---- lanes ------------------------------------------------------------- */

static void labels_draw(const struct panel *n, const struct label *labels,
                        int len, double bottom_y)
{
    for (int i = 0; n->out && i < len; i++)
        if (labels[i].row >= 0)
            fprintf(n->out, "<path d=\"M%.1f %.1fV%.1f\" class=\"e\"/>\n",
                    labels[i].x, bottom_y - labels[i].row * ROW - 2, bottom_y);
    for (int i = 0; i < len; i++)
        ink_text(n->out, labels[i].from, bottom_y - labels[i].row * ROW - 6,
                 labels[i].class, labels[i].text);
}

/* Where the bars of a lane go, and the texts above them.  The y behind. */
static double lane_draw(struct panel *n, int lane, double y)
{
    static struct label labels[LABELS_MAX];
    const struct lane *l = &n->p->record.lanes[lane];
    int len = lane_labels(n, lane, labels);
    int rows = labels_place(labels, len);
    int row = name_row(l->name, labels, len, rows);
    double bar_y = y + (row >= rows ? row + 1 : rows) * ROW;
    n->bar_y[lane] = bar_y;
    ink_text(n->out, PANEL_EDGE, bar_y - row * ROW - 6, "n", l->name);
    labels_draw(n, labels, len, bar_y);
    if (n->out)
        fprintf(n->out, "<path d=\"M%d %.1fH%d\" class=\"f\"/>\n", PANEL_EDGE,
                bar_y + bar_height(n, lane) / 2, RIGHT);
    return bar_y + bar_height(n, lane) + LANE_GAP;
}

static double axis_draw(const struct panel *n, double y)
{
    double whole_s = (double)n->p->record.ended_us / 1e6;
    double step_s = whole_s > 8 ? 2 : whole_s > 3 ? 1 : 0.5;
    char text[16];
    if (n->out)
        fprintf(n->out, "<path d=\"M%d %.1fH%d\" class=\"a\"/>\n", PANEL_EDGE,
                y, RIGHT);
    for (int i = 0; i * step_s <= whole_s + 1e-9; i++) {
        double s = i * step_s;
        double x = time_x(n, (int64_t)(s * 1e6));
        snprintf(text, sizeof(text), "%g s", s);
        if (n->out)
            fprintf(n->out, "<path d=\"M%.1f %.1fv4\" class=\"a\"/>\n", x, y);
        double at = x - ink_width(text) / 2;
        if (at < PANEL_EDGE) at = PANEL_EDGE;
        if (at + ink_width(text) > RIGHT) at = RIGHT - ink_width(text);
        ink_text(n->out, at, y + 16, "s", text);
    }
    return y + 24;
}

/* ---- the whole --------------------------------------------------------- */

static double heading_draw(const struct panel *n, double y)
{
    const struct play *p = n->p;
    int is_naive = p->way == WAY_NAIVE;
    ink_text(n->out, PANEL_EDGE, y + 14, "u",
             is_naive ? "The naive way" : "With holdfast");
    y = ink_lines(n->out, PANEL_EDGE, y + 30, 15, COLUMNS, "l",
                  is_naive ? p->scene->naive_way : p->scene->holdfast_way);
    return y - 4;
}

static double verdict_draw(const struct panel *n, double y)
{
    return ink_lines(n->out, PANEL_EDGE, y + 12, 15, COLUMNS_BOLD,
                     n->p->faults & n->p->scene->faults ? "l r b" : "l g b",
                     n->p->verdict);
}

static double lanes_draw(struct panel *n, double y)
{
    static struct label labels[LABELS_MAX];
    struct overlap overlaps[OVERLAPS_MAX];
    int found = record_overlaps(&n->p->record, overlaps);
    int len = overlap_labels(n, overlaps, found, labels);
    int rows = labels_place(labels, len);
    y += rows * ROW + 8;
    n->top_y = y;
    for (int i = 0; i < len; i++)
        ink_text(n->out, labels[i].from, y - labels[i].row * ROW - 6,
                 labels[i].class, labels[i].text);
    for (int i = 0; i < n->p->record.lanes_len; i++) y = lane_draw(n, i, y);
    return y;
}

static void all_draw(struct panel *n, double y, double lanes_y)
{
    struct overlap overlaps[OVERLAPS_MAX];
    int found = record_overlaps(&n->p->record, overlaps);
    writes_draw(n, write_line);
    heading_draw(n, y);
    lanes_draw(n, lanes_y);
    for (enum bar_kind kind = BAR_WAITS; kind <= BAR_HAS; kind++)
        bars_draw(n, kind);
    for (int i = 0; i < found; i++) overlap_draw(n, &overlaps[i]);
    bars_draw(n, BAR_PAUSED);
    bars_draw(n, BAR_DOWN);
    writes_draw(n, write_mark);
}

/* First without ink, to know where the lanes are: lines go behind texts. */
double panel_draw(FILE *out, const struct play *p, double y)
{
    static struct panel n;
    n = (struct panel){.p = p};
    n.bars_len = record_bars(&p->record, n.bars);
    double lanes_y = heading_draw(&n, y);
    double end_y = lanes_draw(&n, lanes_y);
    n.out = out;
    if (out) all_draw(&n, y, lanes_y);
    end_y = axis_draw(&n, end_y);
    return verdict_draw(&n, end_y) + 4;
}
