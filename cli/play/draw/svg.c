/*
 * play/draw/svg.c: the runs of a scene as one SVG, one below the other; light
 * or dark, as its reader prefers.
 */
#include "play/draw/draw.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/exit.h"
#include "common/say.h"

/* Text has an outline in the colour of the page, so that lines end at it. */
static const char styles[] =
    "text{font:11px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,"
    "sans-serif;fill:#1f2328;paint-order:stroke;stroke:#fff;stroke-width:3px;"
    "stroke-linejoin:round}"
    ".z{fill:#fff}.v{fill:#fff;stroke:#d1d9e0}"
    ".t{font-size:15px;font-weight:700}.u{font-size:13px;font-weight:700}"
    ".n{font-size:12px;font-weight:700}.b{font-weight:700}.s{fill:#59636e}"
    ".r{fill:#b3261e}.g{fill:#14692c}"
    ".i{fill:#1f2328;stroke:none;font-size:10px}"
    ".f{stroke:#d1d9e0}.a{stroke:#8c959f}.e{stroke:#8c959f;stroke-width:.8}"
    ".c0{fill:#0969da}.c1{fill:#8250df}.c2{fill:#1b7c83}.c3{fill:#9a6700}"
    ".c4{fill:#bf3989}.c5{fill:#57606a}.h{fill-opacity:.35}"
    ".w{fill:#f6f8fa;stroke:#8c959f;stroke-dasharray:3 2}"
    ".p{fill:url(#veil);stroke:#57606a}.d{fill:url(#down);stroke:#b3261e}"
    ".x{fill:#ff8182;fill-opacity:.18;stroke:#b3261e;stroke-dasharray:4 3}"
    ".y{fill:#cf222e}"
    ".k{stroke:#14692c;stroke-dasharray:2 2;fill:none}.kr{stroke:#b3261e}"
    ".m{fill:#1a7f37}.mr{fill:#cf222e}"
    ".q{stroke:#fff;stroke-width:1.8;fill:none}"
    "@media(prefers-color-scheme:dark){"
    "text{fill:#e6edf3;stroke:#0d1117}.z{fill:#0d1117}"
    ".v{fill:#0d1117;stroke:#3d444d}.s{fill:#9198a1}.r{fill:#ff7b72}"
    ".g{fill:#56d364}.i{fill:#e6edf3;stroke:none}.f{stroke:#3d444d}"
    ".c0{fill:#388bfd}.c1{fill:#a371f7}.c2{fill:#39c5cf}.c3{fill:#d29922}"
    ".c4{fill:#db61a2}.c5{fill:#8b949e}.w{fill:#161b22}"
    ".k{stroke:#56d364}.kr{stroke:#ff7b72}.y{fill:#f85149}"
    ".x{stroke:#ff7b72}.d,.p{stroke:#9198a1}}";

void svg_styles(FILE *out)
{
    fprintf(out, "<style>%s</style>\n<defs>", styles);
    fputs("<pattern id=\"veil\" width=\"7\" height=\"7\" "
          "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
          "<rect width=\"7\" height=\"7\" fill=\"#8c959f\" "
          "fill-opacity=\".55\"/><rect width=\"3\" height=\"7\" "
          "fill=\"#fff\" fill-opacity=\".55\"/></pattern>"
          "<pattern id=\"down\" width=\"6\" height=\"6\" "
          "patternUnits=\"userSpaceOnUse\"><path d=\"M0 0l6 6m0 -6l-6 6\" "
          "stroke=\"#8c959f\" stroke-width=\".8\"/></pattern></defs>\n",
          out);
}

double legend_draw(FILE *out, double y)
{
    static const struct {
        const char *class, *words;
        double x;
    } marks[2][3] = {{{"c0", "believes to hold the lock", 0},
                      {"w", "waits", 196},
                      {"p", "process paused", 280}},
                     {{"c0 h", "has it, as the store says", 0},
                      {"y", "two believe", 196},
                      {"d", "down", 312}}};
    for (int row = 0; row < 2; row++)
        for (int i = 0; i < 3; i++) {
            double x = PANEL_EDGE + marks[row][i].x;
            ink_box(out, x, y + row * 18, 16, 10, marks[row][i].class,
                    marks[row][i].words);
            ink_text(out, x + 21, y + row * 18 + 9, "s", marks[row][i].words);
        }
    return y + 42;
}

static void file_trouble(const char *path, const char *why)
{
    say_error("lab: %s: cannot be written: %s", path, why);
}

/* An empty file must not be left behind, so none is made before the end. */
int draw_file_check(const char *path)
{
    char dir[4096];
    struct stat st;
    if (stat(path, &st) == 0) {
        if (S_ISDIR(st.st_mode)) errno = EISDIR;
        if (!S_ISDIR(st.st_mode) && access(path, W_OK) == 0) return EXIT_OK;
    } else if (errno == ENOENT) {
        const char *slash = strrchr(path, '/');
        snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) : 1,
                 slash ? path : ".");
        if (access(dir[0] ? dir : "/", W_OK) == 0) return EXIT_OK;
    }
    file_trouble(path, strerror(errno));
    return EXIT_CONFIG;
}

static double head_draw(FILE *out, const struct scene *scene)
{
    double y = ink_lines(out, PANEL_EDGE, 26, 19, 54, "t", scene->title);
    return ink_lines(out, PANEL_EDGE, y + 1, 15, 72, "l", scene->story) + 2;
}

static double body_draw(FILE *out, const struct play *plays, int len, double y)
{
    for (int i = 0; i < len; i++) {
        double end_y = panel_draw(NULL, &plays[i], y);
        if (out)
            fprintf(out, "<path d=\"M0 %.1fH%d\" class=\"f\"/>\n", y - 4,
                    PANEL_WIDTH);
        panel_draw(out, &plays[i], y);
        y = end_y + 10;
    }
    y = ink_lines(out, PANEL_EDGE, y + 8, 15, 72, "l",
                  plays[0].scene->difference);
    return out ? legend_draw(out, y) : y + 42;
}

static void svg_draw(FILE *out, const struct play *plays, int len)
{
    const struct scene *scene = plays[0].scene;
    double height = body_draw(NULL, plays, len, head_draw(NULL, scene));
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" "
            "viewBox=\"0 0 %d %.0f\" width=\"%d\" height=\"%.0f\" "
            "role=\"img\"><title>",
            PANEL_WIDTH, height, PANEL_WIDTH * 5 / 4, height * 5 / 4);
    ink_escaped(out, scene->title);
    fputs("</title>\n", out);
    svg_styles(out);
    fprintf(out,
            "<rect x=\".5\" y=\".5\" width=\"%d\" height=\"%.0f\" rx=\"6\" "
            "class=\"v\"/>\n",
            PANEL_WIDTH - 1, height - 1);
    body_draw(out, plays, len, head_draw(out, scene));
    fputs("</svg>\n", out);
}

int draw_svg_file(const char *path, const struct play *plays, int len)
{
    FILE *out = fopen(path, "we");
    if (out) svg_draw(out, plays, len);
    if (out && fclose(out) == 0) return EXIT_OK;
    file_trouble(path, strerror(errno));
    return EXIT_CONFIG;
}
