/*
 * guard/file.c: guarded files.  One rule: standard input is read to its end
 * before anything is changed.
 */
#include "common/exit.h"
#include "common/say.h"
#include "common/text.h"
#include "guard/guard.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int file_end(int status, const struct hf_error *err)
{
    char shown[2 * HF_ERROR_TEXT_MAX];
    if (status == HF_OK) return EXIT_OK;
    say_error("%s", text_escape(err->text, shown, sizeof(shown)));
    return status_exit(status);
}

int guard_file(const struct guard_call *g)
{
    struct input in = {0};
    struct hf_error err = {0};
    int code = input_read(&in);
    if (!code)
        code = file_end(
            hf_guard_file_replace(g->words[0], g->token, in.data, in.len, &err),
            &err);
    free(in.data);
    return code;
}

int guard_file_touch(const struct guard_call *g)
{
    struct hf_error err = {0};
    return file_end(hf_guard_file_touch(g->words[0], g->token, &err), &err);
}

int guard_file_token(const struct guard_call *g)
{
    struct hf_error err = {0};
    uint64_t token = 0;
    int status = hf_guard_file_token(g->words[0], &token, &err);
    if (status != HF_OK) return file_end(status, &err);
    printf("%" PRIu64 "\n", token);
    return stdout_end();
}
