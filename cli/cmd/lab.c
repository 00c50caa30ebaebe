/*
 * cmd/lab.c: failures of locks, made to happen on this machine, and drawn.
 */
#include "command.h"
#include "common/exit.h"
#include "common/json.h"
#include "common/say.h"
#include "common/text.h"
#include "option/rows.h"
#include "play/draw/draw.h"
#include "play/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SPEED_MIN 10
#define SPEED_MAX 400

enum { BOTH_WAYS, ONLY_NAIVE, ONLY_HOLDFAST };

/* Memory for the records that is shared with the runs, which are processes of
 * their own. */
static struct play *plays_map(void)
{
    void *at = mmap(NULL, WAYS * sizeof(struct play), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static int way_is_played(const struct options *o, enum way way)
{
    if (o->way == BOTH_WAYS) return 1;
    return o->way == (way == WAY_NAIVE ? ONLY_NAIVE : ONLY_HOLDFAST);
}

static void play_prepare(struct play *p, const struct scene_row *row,
                         enum way way, const struct options *o)
{
    memset(p, 0, sizeof(*p));
    p->name = row->name;
    p->scene = row->scene;
    p->way = way;
    p->speed = o->speed ? o->speed : 100;
    p->seed = (uint64_t)o->seed;
    p->is_json = o->json;
    p->is_quiet = o->quiet || o->mermaid;
}

/* EXIT_OK if the run showed what its way must show. */
static int way_judge(const struct play *p, const struct options *o)
{
    unsigned wanted = p->scene->faults;
    if (p->faults & FAULT_VOID) {
        say_error("lab: %s: %s: %s; try again, or with --speed 50", p->name,
                  p->way == WAY_NAIVE ? "naive" : "holdfast", p->said);
        return EXIT_VIOLATED;
    }
    if (o->must_not) {
        int is_judged = p->way == WAY_HOLDFAST || o->way == ONLY_NAIVE;
        if (!is_judged || !(p->faults & (unsigned)o->must_not)) return EXIT_OK;
        say_error("lab: %s: --assert does not hold: %s", p->name, p->verdict);
        return EXIT_VIOLATED;
    }
    if (p->way == WAY_NAIVE && (p->faults & wanted) == wanted) return EXIT_OK;
    if (p->way == WAY_HOLDFAST && !(p->faults & wanted)) return EXIT_OK;
    say_error("lab: %s: %s: not as expected: %s", p->name,
              p->way == WAY_NAIVE ? "naive" : "holdfast", p->verdict);
    return EXIT_VIOLATED;
}

static int drawings_write(const struct play *plays, int len,
                          const struct options *o)
{
    int code = EXIT_OK;
    if (o->svg) code = draw_svg_file(o->svg, plays, len);
    if (!code && o->html) code = draw_html_file(o->html, plays, len);
    if (o->mermaid)
        for (int i = 0; i < len; i++) draw_mermaid(stdout, &plays[i]);
    return code;
}

static void scene_begin(const struct scene_row *row, const struct options *o)
{
    if (o->json || o->quiet || o->mermaid) return;
    printf("%s: %s.\n%s\n\n", row->name, row->scene->title, row->scene->story);
}

static void scene_end(const struct scene_row *row, const struct options *o)
{
    if (o->json || o->quiet || o->mermaid) return;
    printf("The difference: %s\n\n", row->scene->difference);
}

static int scene_play(struct play *plays, const struct scene_row *row,
                      const struct options *o)
{
    int len = 0, code = EXIT_OK;
    scene_begin(row, o);
    for (enum way way = WAY_NAIVE; way < WAYS; way++) {
        if (!way_is_played(o, way)) continue;
        play_prepare(&plays[len], row, way, o);
        int failed = run_play(&plays[len]);
        if (failed) return failed;
        failed = way_judge(&plays[len++], o);
        if (failed) code = failed;
    }
    int written = drawings_write(plays, len, o);
    scene_end(row, o);
    return code ? code : written;
}

static int scenes_play(const char *name, const struct options *o)
{
    int code = EXIT_OK;
    struct play *plays = plays_map();
    if (!plays) {
        say_error("lab: out of memory");
        return EXIT_BUG;
    }
    code = watch_begin();
    if (code) return code;
    for (const struct scene_row *row = scenes; row->name; row++) {
        if (name && strcmp(name, row->name) != 0) continue;
        int failed = scene_play(plays, row, o);
        if (failed) code = failed;
    }
    watch_end();
    int printed = stdout_end();
    return code ? code : printed;
}

static void row_json(const struct scene_row *row)
{
    struct json j;
    json_begin(&j);
    json_text(&j, "event", "scenario");
    json_text(&j, "name", row->name);
    json_text(&j, "title", row->scene->title);
    json_end(&j);
    (void)fwrite(j.buf, 1, j.len, stdout);
}

static int scenes_list(const struct options *o)
{
    for (const struct scene_row *row = scenes; row->name; row++)
        if (o->json)
            row_json(row);
        else if (o->quiet)
            printf("%s\n", row->name);
        else
            printf("%-16s %s\n", row->name, row->scene->title);
    return stdout_end();
}

static int name_unknown(const char *name)
{
    char shown[TEXT_ESCAPED_MAX];
    const char *nearest = scene_nearest(name);
    text_escape(name, shown, sizeof(shown));
    if (nearest)
        say_error("lab: %s: no such scenario; did you mean %s?", shown,
                  nearest);
    else
        say_error("lab: %s: no such scenario; see holdfast lab list", shown);
    return EXIT_USAGE;
}

static int lab_run(const struct command *self, const char *name,
                   const struct options *o)
{
    if (!name) return command_usage(self, "run: a scenario's name is missing");
    if (!scene_find(name)) return name_unknown(name);
    if ((o->svg && draw_file_check(o->svg))
        || (o->html && draw_file_check(o->html)))
        return EXIT_CONFIG;
    return scenes_play(name, o);
}

static int lab_list(const struct command *self, const struct options *o)
{
    if (o->mermaid || o->way || o->must_not || o->speed || o->seed)
        return command_usage(self, "list plays nothing: of the options it "
                                   "takes --json and -q");
    return scenes_list(o);
}

static int lab_main(const struct command *self, int argc, char **argv)
{
    struct options o;
    const char *words[2];
    int code = command_begin(self, argc, argv, &o, words, 1, 2);
    if (code >= 0) return code;
    if (o.json && o.mermaid)
        return command_usage(self, "--json and --mermaid exclude each other");
    if (strcmp(words[0], "run") == 0) return lab_run(self, words[1], &o);
    if (words[1]) return command_usage(self, "only run takes a name");
    if (o.svg || o.html)
        return command_usage(self, "--svg and --html are for one scenario: "
                                   "use run");
    if (strcmp(words[0], "list") == 0) return lab_list(self, &o);
    if (strcmp(words[0], "all") == 0) return scenes_play(NULL, &o);
    return command_usage(self, scene_find(words[0])
                                   ? "this is a scenario: use run NAME"
                                   : "the action is list, run or all");
}

static const struct option_row lab_options[] = {
    {"", "svg", "FILE", OPTION_TEXT, FIELD(svg), 0, 0, 0,
     "draw what happened into FILE, as SVG"},
    {"", "html", "FILE", OPTION_TEXT, FIELD(html), 0, 0, 0,
     "the same as a page that needs no other file: both runs side by side, "
     "with zoom"},
    {"", "mermaid", NULL, OPTION_FLAG, FIELD(mermaid), 1, 0, 0,
     "print a sequence diagram for Mermaid, and nothing else"},
    {"", "way", "naive|holdfast", OPTION_CHOICE, FIELD(way), ONLY_NAIVE, 0, 0,
     "play only this way; default: both"},
    /* Their numbers are the bits FAULT_OVERLAP, FAULT_CORRUPT, and both. */
    {"", "assert", "no-overlap|no-corruption|both", OPTION_CHOICE,
     FIELD(must_not), FAULT_OVERLAP, 0, 0,
     "exit with 1 if two clients believed to hold the lock at once, if a "
     "write of a former holder was accepted, or on either; judged is "
     "holdfast's way, or the naive way with --way naive"},
    {"", "seed", "N", OPTION_NUMBER, FIELD(seed), 0, 0, INT64_MAX,
     "what a scenario leaves to chance, such as the server that fails; "
     "default: 0"},
    {"", "speed", "PERCENT", OPTION_NUMBER, FIELD(speed), 0, SPEED_MIN,
     SPEED_MAX,
     "how fast to play; default: 100. Leases and pauses are twice as long "
     "with 50; use less than 100 on a busy machine"},
    OPTION_ROW_JSON(
        "print a line of JSON for each event and each verdict; with "
        "list: for each scenario"),
    OPTION_ROW_TALK,
};

static const char *const lab_about[] = {
    "See how locks fail. Each scenario starts its own servers on free ports "
    "of this machine, and clients that are processes of their own; plays a "
    "fault, such as a pause or the death of a server; and prints what each "
    "participant believed and did, and when. It is played twice with the same "
    "acts: the naive way, as found in many programs, and with holdfast. Then "
    "it says what made the difference.",
    "list names the scenarios, run plays one of them, all plays them all. No "
    "process, port or file is left behind, also if the command is killed; a "
    "drawing is written when its scenario has been played.",
    "In a drawing each client, store and resource has a lane. A bar shows "
    "that a client believes to hold the lock, or which client has it as the "
    "store says; red, that two clients believe so; a veil, that a process is "
    "paused.",
    "The servers are redis-server, of the package of that name; "
    "pause-etcd starts etcd (etcd-server), pause-postgres PostgreSQL "
    "(postgresql), and pause-sqlite runs sqlite3. What is missing is named "
    "with its package.",
    NULL};

static const struct term_row lab_exits[] = {
    {"0", "the naive way showed the fault, and holdfast did not"},
    {"1", "one of the two did not happen; with --assert: it does not hold"},
    {"64", "wrong use of the command, or no such scenario"},
    {"69", "a server is missing on this machine"},
    {"70", "a bug in holdfast, or the machine is out of memory"},
    {"78", "a file cannot be written"},
    {NULL, NULL}};

static const char *const lab_examples[] = {
    "holdfast lab list", "holdfast lab run pause --html pause.html",
    "holdfast lab run pause --way holdfast --assert no-corruption", NULL};

const struct command cmd_lab = {
    .name = "lab",
    .summary = "see how locks fail, on real servers",
    .usage = "[options] list | run NAME | all",
    .about = lab_about,
    OPTIONS(lab_options),
    .exits = lab_exits,
    .examples = lab_examples,
    .actions = "list|run|all",
    .run = lab_main,
};
