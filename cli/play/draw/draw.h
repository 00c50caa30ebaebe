/*
 * play/draw/draw.h: a run as a drawing.  One rule: a drawing is made from the
 * record alone, so that it shows nothing but what was measured.
 */
#ifndef HOLDFAST_CLI_PLAY_DRAW_DRAW_H
#define HOLDFAST_CLI_PLAY_DRAW_DRAW_H

#include <stdio.h>

#include "play/run.h"

/* EXIT_OK if a file can be written there; otherwise says why not. */
int draw_file_check(const char *path);

/* Write the drawing of these runs of one scene; an exit code. */
int draw_svg_file(const char *path, const struct play *plays, int len);
int draw_html_file(const char *path, const struct play *plays, int len);
void draw_mermaid(FILE *out, const struct play *p);

/* ---- for the files of this folder -------------------------------------- */

#define PANEL_WIDTH 480
#define PANEL_EDGE 14

/* Text with what XML needs escaped. */
void ink_escaped(FILE *out, const char *text);
/* A text of this class, from (x, y). */
void ink_text(FILE *out, double x, double y, const char *class,
              const char *text);
/* The same in lines of at most `columns`, `step` apart; returns the y behind.
 * Without `out` (NULL) nothing is written. */
double ink_lines(FILE *out, double x, double y, double step, int columns,
                 const char *class, const char *text);
/* A box with a tooltip. */
void ink_box(FILE *out, double x, double y, double width, double height,
             const char *class, const char *tip);
/* The width of a text in the size of labels, estimated with room to spare. */
double ink_width(const char *text);

/* A text at a point in time, with a line down to it. */
struct label {
    double x;          /* where it points to */
    double from, to;   /* where the text is */
    int row;           /* 0 is the lowest */
    const char *class; /* of the text */
    char text[EVENT_TEXT_MAX + 48];
};
#define LABELS_MAX 48

/* Give each label a row, so that no two texts meet, and no line crosses a
 * text.  How many rows. */
int labels_place(struct label *labels, int len);

/* The panel of a run at this y; returns the y behind it.  Without `out` (NULL)
 * nothing is written. */
double panel_draw(FILE *out, const struct play *p, double y);
/* Styles and patterns of all panels, and what the marks mean. */
void svg_styles(FILE *out);
double legend_draw(FILE *out, double y);

#endif
