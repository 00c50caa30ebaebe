/*
 * table.c: judges, prints and writes down the rows.  The verdict is computed
 * in one place, so that the table and the JSON cannot disagree.
 */
#include "table.h"

#include <math.h>
#include <string.h>

#include "tool.h"

#define EXACT 0.005 /* "exactly two commands", whatever the last one did */

enum verdict { INFO, MET, MISSED, FAILED };

static const char *const verdict_names[] = {
    [INFO] = "-", [MET] = "ok", [MISSED] = "MISSED", [FAILED] = "not run"};

static double judged_value(const struct row *r)
{
    switch (r->judge) {
    case JUDGE_RATIO_MIN:
    case JUDGE_RATIO_MAX:
        return r->ratio;
    case JUDGE_DIFFERENCE_MAX:
        return r->ours - r->reference;
    default:
        return r->ours;
    }
}

static enum verdict row_verdict(const struct row *r)
{
    double v = judged_value(r);

    if (isnan(r->ours)) return FAILED;
    switch (r->judge) {
    case JUDGE_NOTHING:
        return INFO;
    case JUDGE_RATIO_MIN:
    case JUDGE_OURS_MIN:
        return v >= r->bound ? MET : MISSED;
    case JUDGE_RATIO_MAX:
    case JUDGE_OURS_MAX:
    case JUDGE_DIFFERENCE_MAX:
        return v <= r->bound ? MET : MISSED;
    case JUDGE_OURS_IS:
        return fabs(v - r->bound) <= EXACT ? MET : MISSED;
    }
    return FAILED;
}

/* "12345", "12.3", "0.123": about four digits that mean something. */
static void figure_format(double v, char *out, size_t size)
{
    if (isnan(v))
        snprintf(out, size, "-");
    else if (fabs(v) >= 1000 || v == floor(v))
        snprintf(out, size, "%.0f", v);
    else
        snprintf(out, size, "%.*f",
                 fabs(v) >= 100 ? 1
                 : fabs(v) >= 1 ? 2
                                : 3,
                 v);
}

static void target_format(const struct row *r, char *out, size_t size)
{
    static const char *const forms[] = {
        [JUDGE_NOTHING] = "",
        [JUDGE_RATIO_MIN] = ">= %g x",
        [JUDGE_RATIO_MAX] = "<= %g x",
        [JUDGE_OURS_MIN] = ">= %g",
        [JUDGE_OURS_MAX] = "<= %g",
        [JUDGE_OURS_IS] = "= %g",
        [JUDGE_DIFFERENCE_MAX] = "<= ref + %g",
    };
    char bound[32];

    /* The form is ours, the number goes in by hand: no format is variable. */
    snprintf(bound, sizeof(bound), "%g", r->bound);
    const char *at = strstr(forms[r->judge], "%g");
    if (!at)
        snprintf(out, size, "-");
    else
        snprintf(out, size, "%.*s%s%s", (int)(at - forms[r->judge]),
                 forms[r->judge], bound, at + 2);
}

void table_head_print(void)
{
    printf("%-16s %-20s %10s %10s %7s  %-11s %-7s %s\n", "workload", "measure",
           "holdfast", "reference", "ratio", "target", "verdict", "");
}

static void row_print(const struct row *r)
{
    char ours[32], reference[32], ratio[32], target[48];

    figure_format(r->ours, ours, sizeof(ours));
    figure_format(r->reference, reference, sizeof(reference));
    if (isnan(r->ratio))
        snprintf(ratio, sizeof(ratio), "-");
    else
        snprintf(ratio, sizeof(ratio), "%.2f", r->ratio);
    target_format(r, target, sizeof(target));
    printf("%-16s %-20s %10s %10s %7s  %-11s %-7s %s\n", r->work, r->what, ours,
           reference, ratio, target, verdict_names[row_verdict(r)], r->note);
    fflush(stdout);
}

void table_add(struct table *t, struct row row, const char *note)
{
    if (t->len == ROWS_MAX) fail("more than %d rows", ROWS_MAX);
    if (isnan(row.ratio) && row.reference > 0)
        row.ratio = row.ours / row.reference;
    snprintf(row.note, sizeof(row.note), "%s", note ? note : "");
    t->rows[t->len++] = row;
    row_print(&row);
}

void table_skip(struct table *t, const char *work, const char *why)
{
    struct row row = {
        .work = work, .what = "", .ours = NAN, .reference = NAN, .ratio = NAN};

    table_add(t, row, why);
}

static int verdicts_count(const struct table *t, enum verdict wanted)
{
    int n = 0;

    for (int i = 0; i < t->len; i++) n += row_verdict(&t->rows[i]) == wanted;
    return n;
}

int table_missed(const struct table *t)
{
    return verdicts_count(t, MISSED);
}

int table_failed(const struct table *t)
{
    return verdicts_count(t, FAILED);
}

static void member_json(FILE *out, const char *key, double v)
{
    if (isnan(v))
        fprintf(out, ",\"%s\":null", key);
    else
        fprintf(out, ",\"%s\":%.6g", key, v);
}

/* Notes come from our own formats and from error texts of this program: what
 * JSON must escape is left out. */
static void text_json(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++)
        if (*text != '"' && *text != '\\' && (unsigned char)*text >= ' ')
            fputc(*text, out);
    fputc('"', out);
}

void table_json(const struct table *t, FILE *out)
{
    char target[48];

    fputs("[", out);
    for (int i = 0; i < t->len; i++) {
        const struct row *r = &t->rows[i];
        fprintf(out, "%s\n  {\"workload\":\"%s\",\"measure\":\"%s\"",
                i ? "," : "", r->work, r->what);
        member_json(out, "holdfast", r->ours);
        member_json(out, "reference", r->reference);
        member_json(out, "ratio", r->ratio);
        target_format(r, target, sizeof(target));
        fprintf(out, ",\"target\":\"%s\",\"verdict\":\"%s\",\"note\":", target,
                verdict_names[row_verdict(r)]);
        text_json(out, r->note);
        fputs("}", out);
    }
    fputs("\n]", out);
}
