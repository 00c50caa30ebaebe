/*
 * play/draw/label.c: where the texts above a lane go.  Each has a line down to
 * its point in time.  One rule: two texts of a row are apart, and a line meets
 * no text of the rows below it.
 */
#include "play/draw/draw.h"

#define GAP 7
#define EDGE_RIGHT (PANEL_WIDTH - PANEL_EDGE)

static int is_clear(const struct label *a, const struct label *b)
{
    if (a->row == b->row)
        return a->to + GAP <= b->from || b->to + GAP <= a->from;
    const struct label *high = a->row > b->row ? a : b;
    const struct label *low = a->row > b->row ? b : a;
    return high->x < low->from - 2 || high->x > low->to + 2;
}

static int fits(const struct label *labels, const struct label *l)
{
    for (const struct label *other = labels; other < l; other++)
        if (!is_clear(other, l)) return 0;
    return 1;
}

/* Place the text: it begins at its point in time, ends there, or is centred on
 * it. */
static void label_shift(struct label *l, int part)
{
    double width = ink_width(l->text);
    l->from = l->x - 3 - part * (width - 6) / 4;
    if (l->from + width > EDGE_RIGHT) l->from = EDGE_RIGHT - width;
    if (l->from < PANEL_EDGE) l->from = PANEL_EDGE;
    l->to = l->from + width;
}

/* Does the text cover the point of another label that has no place yet? */
static int covers(const struct label *l, const struct label *end)
{
    for (const struct label *other = l + 1; other < end; other++)
        if (other->x > l->from - 2 && other->x < l->to + 2) return 1;
    return 0;
}

static int label_place(struct label *labels, struct label *l,
                       const struct label *end, int rows, int is_strict)
{
    for (l->row = 0; l->row <= rows; l->row++) {
        for (int part = 0; part <= 4; part++) {
            label_shift(l, part);
            if (fits(labels, l) && !(is_strict && covers(l, end))) return 1;
        }
    }
    return 0;
}

static void labels_sort(struct label *labels, int len, int is_falling)
{
    for (int i = 1; i < len; i++) {
        struct label l = labels[i];
        int j = i;
        for (; j > 0
               && (is_falling ? labels[j - 1].x < l.x : labels[j - 1].x > l.x);
             j--)
            labels[j] = labels[j - 1];
        labels[j] = l;
    }
}

/* How many rows; each label without a good place counts as many. */
static int labels_try(struct label *labels, int len, int is_falling, int *rows)
{
    int bad = 0;
    *rows = 0;
    labels_sort(labels, len, is_falling);
    for (int i = 0; i < len; i++) {
        struct label *l = &labels[i], *end = labels + len;
        if (!label_place(labels, l, end, *rows, 1)
            && !label_place(labels, l, end, *rows, 0))
            bad++;
        if (l->row >= *rows) *rows = l->row + 1;
    }
    return *rows + 100 * bad;
}

int labels_place(struct label *labels, int len)
{
    int rows;
    int falling = labels_try(labels, len, 1, &rows);
    int rising = labels_try(labels, len, 0, &rows);
    if (falling < rising) (void)labels_try(labels, len, 1, &rows);
    return rows;
}
