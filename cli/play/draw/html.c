/*
 * play/draw/html.c: the runs of a scene as one page, side by side where there
 * is room.  It loads nothing, and without scripts only the zoom is missing.
 */
#include "play/draw/draw.h"

#include <errno.h>
#include <string.h>

#include "common/exit.h"
#include "common/say.h"

static const char page_styles[] =
    "body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;padding:16px;"
    "max-width:1280px;color:#1f2328;background:#fff}"
    "h1{font-size:1.4rem;margin:.3em 0}p{max-width:70ch;margin:.5em 0}"
    "main{display:grid;gap:16px;"
    "grid-template-columns:repeat(auto-fit,minmax(min(100%,460px),1fr))}"
    "figure{margin:0;overflow-x:auto;border:1px solid #d1d9e0;"
    "border-radius:6px}svg{display:block;width:calc(var(--zoom,1)*100%)}"
    "label{display:block}details{margin-top:16px}"
    "pre{overflow-x:auto;font-size:13px}"
    "@media(prefers-color-scheme:dark){"
    "body{color:#e6edf3;background:#0d1117}figure{border-color:#3d444d}}";

static const char zoom[] =
    "<label>zoom <input type=\"range\" min=\"1\" max=\"6\" step=\".1\" "
    "value=\"1\" oninput=\"document.body.style.setProperty('--zoom',"
    "this.value)\"></label>\n";

static void figure_write(FILE *out, const struct play *p)
{
    double height = panel_draw(NULL, p, 8);
    fprintf(out,
            "<figure><svg xmlns=\"http://www.w3.org/2000/svg\" "
            "viewBox=\"0 0 %d %.0f\" role=\"img\"><title>%s</title>\n",
            PANEL_WIDTH, height + 8,
            p->way == WAY_NAIVE ? "The naive way" : "With holdfast");
    panel_draw(out, p, 8);
    fputs("</svg></figure>\n", out);
}

/* Their styles and patterns are one for all panels. */
static void legend_write(FILE *out)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d 46\" "
            "style=\"width:100%%;max-width:640px\" role=\"img\">"
            "<title>Legend</title>\n",
            PANEL_WIDTH);
    svg_styles(out);
    legend_draw(out, 4);
    fputs("</svg>\n", out);
}

static void events_write(FILE *out, const struct play *p)
{
    char words[2 * EVENT_TEXT_MAX];
    fprintf(out, "<details><summary>%s, line by line</summary><pre>",
            p->way == WAY_NAIVE ? "The naive way" : "With holdfast");
    for (int i = 0; i < p->record.events_len; i++) {
        const struct event *e = &p->record.events[i];
        fprintf(out, "%8.3f s  %-26s ", (double)e->at_us / 1e6,
                p->record.lanes[e->lane].name);
        ink_escaped(out, event_words(p, e, words, sizeof(words)));
        fputc('\n', out);
    }
    fputs("</pre></details>\n", out);
}

static void paragraph_write(FILE *out, const char *name, const char *text)
{
    fprintf(out, "<%s>", name);
    ink_escaped(out, text);
    fprintf(out, "</%s>\n", name);
}

static void html_write(FILE *out, const struct play *plays, int len)
{
    const struct scene *scene = plays[0].scene;
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
          "<meta name=\"viewport\" content=\"width=device-width\">"
          "<meta name=\"color-scheme\" content=\"light dark\">",
          out);
    paragraph_write(out, "title", scene->title);
    fprintf(out, "<style>%s</style></head><body>\n", page_styles);
    paragraph_write(out, "h1", scene->title);
    paragraph_write(out, "p", scene->story);
    fputs(zoom, out);
    fputs("<main>\n", out);
    for (int i = 0; i < len; i++) figure_write(out, &plays[i]);
    fputs("</main>\n", out);
    legend_write(out);
    paragraph_write(out, "p", scene->difference);
    for (int i = 0; i < len; i++) events_write(out, &plays[i]);
    fputs("</body></html>\n", out);
}

int draw_html_file(const char *path, const struct play *plays, int len)
{
    FILE *out = fopen(path, "we");
    if (out) html_write(out, plays, len);
    if (out && fclose(out) == 0) return EXIT_OK;
    say_error("lab: %s: cannot be written: %s", path, strerror(errno));
    return EXIT_CONFIG;
}
