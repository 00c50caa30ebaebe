/*
 * session/config.c: which configuration file is read, and which profile of it.
 *
 * One rule: the system's file says where the locks live if the user's file does
 * not; but what either of them requires always holds.
 */
#include "session/config_file.h"
#include "common/environment.h"
#include "common/exit.h"
#include "common/say.h"
#include "common/text.h"

#include <stdio.h>
#include <string.h>

#define SYSTEM_FILE "/etc/holdfast.conf"
#define USER_FILE ".config/holdfast.conf"

static struct {
    const char *file, *profile;
    char require[256];
    int is_empty, is_long; /* a level was empty; all are too long */
} chosen;

void config_choose(const char *file, const char *profile)
{
    chosen.file = file;
    chosen.profile = profile;
}

void config_require(const char *level)
{
    size_t len = strlen(chosen.require), size = sizeof(chosen.require);
    int n = snprintf(chosen.require + len, size - len, "%s%s", len ? "," : "",
                     level);
    if (!level[0]) chosen.is_empty = 1;
    if (n < 0 || (size_t)n >= size - len) chosen.is_long = 1;
}

/* ---- what the caller chose ---- */

/* An empty value comes from a script's variable that was not set: refuse it. */
static int empty_refuse(const char *name, int code)
{
    say_error("%s: empty: %s", name,
              code == EXIT_USAGE ? "leave it out, or give it a value"
                                 : "unset it, or give it a value");
    return code;
}

static int has_empty(const struct texts *texts)
{
    for (size_t i = 0; i < texts->len; i++)
        if (!texts->at[i][0]) return 1;
    return 0;
}

static int is_empty(const char *text)
{
    return text && !text[0];
}

static int values_check(const struct options *o)
{
    static const char *const variables[] = {
        "HOLDFAST_REQUIRE", "HOLDFAST_PROFILE", "HOLDFAST_CONFIG"};
    if (chosen.is_empty || has_empty(&o->require))
        return empty_refuse("--require", EXIT_USAGE);
    if (is_empty(o->profile) || is_empty(chosen.profile))
        return empty_refuse("--profile", EXIT_USAGE);
    if (is_empty(o->config) || is_empty(chosen.file))
        return empty_refuse("--config", EXIT_USAGE);
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        if (environment_is_empty(variables[i]))
            return empty_refuse(variables[i], EXIT_CONFIG);
    return EXIT_OK;
}

static const char *first_of(const char *a, const char *b, const char *c)
{
    return a ? a : b ? b : c;
}

int config_is_chosen(const struct options *o)
{
    if (o->profile || chosen.profile) return 1;
    return environment_get("HOLDFAST_PROFILE") ? 2 : 0;
}

static int profile_missing(const char *profile, const char *file)
{
    char shown[256], path[1024];
    say_error("%s: no such profile in %s",
              text_escape(profile, shown, sizeof(shown)),
              file ? text_escape(file, path, sizeof(path))
                   : "~/" USER_FILE " or " SYSTEM_FILE);
    return EXIT_CONFIG;
}

static int level_refuse(void)
{
    say_error("require: too long");
    return EXIT_CONFIG;
}

static int require_add(struct config *out, const char *text)
{
    size_t len = strlen(out->require);
    if (len + strlen(text) + 2 > sizeof(out->require)) return level_refuse();
    snprintf(out->require + len, sizeof(out->require) - len, "%s%s",
             len ? "," : "", text);
    return EXIT_OK;
}

/* The path of the user's file, or NULL without a home. */
static const char *user_file(char *out, size_t size)
{
    const char *home = environment_get("HOME");
    int len = home ? snprintf(out, size, "%s/" USER_FILE, home) : -1;
    return len >= 0 && (size_t)len < size ? out : NULL;
}

/* The user's file, if it says where the locks live, and else that of the
 * system; `require` of both holds in any case. */
static int files_read(struct config *out, const char *profile, int *is_found)
{
    struct config of_system;
    char path[sizeof(out->path)];
    int found = 0, code = EXIT_OK;
    const char *file = user_file(path, sizeof(path));
    if (file) code = config_file_read(out, file, profile, 0, is_found);
    if (code) return code;
    code = config_file_read(&of_system, SYSTEM_FILE, *is_found ? "" : profile,
                            0, &found);
    if (code || !of_system.path[0]) return code;
    if (*is_found || (!found && out->path[0]))
        return of_system.require[0] ? require_add(out, of_system.require)
                                    : EXIT_OK;
    if (out->require[0]) code = require_add(&of_system, out->require);
    *out = of_system;
    *is_found = found;
    return code;
}

/* Add the levels that stand before the command's name and after it. */
static int levels_add(struct config *out, const struct options *o)
{
    int code = EXIT_OK;
    if (chosen.is_long) return level_refuse();
    if (chosen.require[0]) code = require_add(out, chosen.require);
    for (size_t i = 0; !code && i < o->require.len; i++)
        code = require_add(out, o->require.at[i]);
    return code;
}

int config_read(const struct options *o, struct config *out)
{
    const char *file =
        first_of(o->config, chosen.file, environment_get("HOLDFAST_CONFIG"));
    const char *profile = first_of(o->profile, chosen.profile,
                                   environment_get("HOLDFAST_PROFILE"));
    int is_found = 0;
    if (!profile) profile = "";
    memset(out, 0, sizeof(*out));
    int code = values_check(o);
    if (code) return code;
    code = file ? config_file_read(out, file, profile, 1, &is_found)
                : files_read(out, profile, &is_found);
    if (code) return code;
    out->is_named = file != NULL;
    if (profile[0] && !is_found) return profile_missing(profile, file);
    return levels_add(out, o);
}

int config_url(const struct config *c, char *out, size_t size)
{
    char path[1024];
    unsigned traits = hf_url_traits(c->url);
    text_escape(c->path, path, sizeof(path));
    if (c->keys[0] && traits & HF_URL_QUORUM) {
        say_error("%s: %.*s: the options of a quorum stand in its url", path,
                  (int)strcspn(c->keys, "="), c->keys);
        return EXIT_CONFIG;
    }
    const char *sign = !c->keys[0] ? "" : traits & HF_URL_OPTIONS ? "&" : "?";
    int len = snprintf(out, size, "%s%s%s", c->url, sign, c->keys);
    if (len >= 0 && (size_t)len < size) return EXIT_OK;
    say_error("%s: url: too long with its options", path);
    return EXIT_CONFIG;
}
