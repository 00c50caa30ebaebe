/*
 * play/draw/ink.c: texts and boxes of an SVG.
 */
#include "play/draw/draw.h"

#include <string.h>

#define CHAR_WIDTH 6.4 /* of 11 px in the widest of the usual fonts */

void ink_escaped(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '>')
            fputs("&gt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else if (*text == '"')
            fputs("&quot;", out);
        else
            fputc((unsigned char)*text < ' ' ? '?' : *text, out);
    }
}

void ink_text(FILE *out, double x, double y, const char *class,
              const char *text)
{
    if (!out) return;
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
    ink_escaped(out, text);
    fputs("</text>\n", out);
}

/* How much of a text fits into a line. */
static size_t line_len(const char *text, size_t columns)
{
    size_t len = strlen(text);
    if (len <= columns) return len;
    for (size_t i = columns; i > 0; i--)
        if (text[i] == ' ') return i;
    return columns;
}

double ink_lines(FILE *out, double x, double y, double step, int columns,
                 const char *class, const char *text)
{
    char line[256];
    while (*text) {
        size_t len = line_len(text, (size_t)columns);
        snprintf(line, sizeof(line), "%.*s", (int)len, text);
        ink_text(out, x, y, class, line);
        text += len + (text[len] == ' ');
        y += step;
    }
    return y;
}

void ink_box(FILE *out, double x, double y, double width, double height,
             const char *class, const char *tip)
{
    if (!out) return;
    fprintf(out,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
            "class=\"%s\"><title>",
            x, y, width < 1 ? 1 : width, height, class);
    ink_escaped(out, tip);
    fputs("</title></rect>\n", out);
}

double ink_width(const char *text)
{
    return CHAR_WIDTH * (double)strlen(text);
}
