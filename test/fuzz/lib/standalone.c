/*
 * standalone.c: runs a fuzz target without libFuzzer.  Every file of the
 * corpus directory given as the argument is replayed, then some thousand
 * mutations of them, from a fixed seed, so that each run is the same run.
 * HF_FUZZ_RUNS and HF_FUZZ_SEED change how many and which.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/url.h"
#include "sys/random.h"

#define INPUT_MAX 4096
#define INPUTS_MAX 2048
#define RUNS_DEFAULT 20000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    size_t len;
    uint8_t *bytes;
};

static struct input inputs[INPUTS_MAX];
static size_t inputs_len;
static uint64_t seed = 1;

static size_t below(size_t n)
{
    return (size_t)(hf__random_next(&seed) % n);
}

/* An exact copy on the heap, so that a sanitizer sees a read past its end. */
static void input_run(const uint8_t *bytes, size_t len)
{
    uint8_t *copy = malloc(len ? len : 1);
    if (!copy) abort();
    if (len > 0) memcpy(copy, bytes, len);
    LLVMFuzzerTestOneInput(copy, len);
    free(copy);
}

static void input_add(const uint8_t *bytes, size_t len)
{
    if (inputs_len == INPUTS_MAX) return;
    uint8_t *copy = malloc(len ? len : 1);
    if (!copy) abort();
    if (len > 0) memcpy(copy, bytes, len);
    inputs[inputs_len].bytes = copy;
    inputs[inputs_len++].len = len;
}

static void file_load(const char *path)
{
    uint8_t buf[INPUT_MAX];
    FILE *f = fopen(path, "rb");
    if (!f) return;
    input_add(buf, fread(buf, 1, sizeof buf, f));
    fclose(f);
}

static void corpus_load(const char *dir)
{
    DIR *d = opendir(dir);
    if (!d) return;
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        char path[4096];
        int n = snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        if (e->d_name[0] == '.' || n < 0 || (size_t)n >= sizeof path) continue;
        file_load(path);
    }
    closedir(d);
}

/* One small change; returns the new length. */
static size_t mutate(uint8_t *b, size_t len)
{
    size_t at = len ? below(len) : 0;
    size_t run = len ? 1 + below(len - at) : 0;
    switch (len ? below(5) : 1) {
    case 0: /* flip a bit */
        b[at] = (uint8_t)(b[at] ^ (1u << below(8)));
        return len;
    case 1: /* insert a byte */
        if (len == INPUT_MAX) return len;
        memmove(b + at + 1, b + at, len - at);
        b[at] = (uint8_t)below(256);
        return len + 1;
    case 2: /* delete a run */
        memmove(b + at, b + at + run, len - at - run);
        return len - run;
    case 3: /* repeat a run */
        if (len + run > INPUT_MAX) return len;
        memmove(b + at + run, b + at, len - at);
        return len + run;
    default: /* a byte from elsewhere in it */
        b[at] = b[below(len)];
        return len;
    }
}

static void mutations_run(int64_t runs)
{
    uint8_t buf[INPUT_MAX];
    for (int64_t i = 0; i < runs; i++) {
        const struct input *in = &inputs[below(inputs_len)];
        size_t len = in->len;
        if (len > 0) memcpy(buf, in->bytes, len);
        for (size_t n = 1 + below(8); n > 0; n--) len = mutate(buf, len);
        input_run(buf, len);
    }
}

static int64_t setting(const char *name, int64_t otherwise)
{
    const char *text = getenv(name);
    int64_t n = otherwise;
    if (text && hf__number_parse(text, 0, INT64_MAX, &n)) return otherwise;
    return n;
}

int main(int argc, char **argv)
{
    int64_t runs = setting("HF_FUZZ_RUNS", RUNS_DEFAULT);
    seed = (uint64_t)setting("HF_FUZZ_SEED", 1);
    if (argc > 1) corpus_load(argv[1]);
    printf("%zu corpus files, %lld mutations\n", inputs_len, (long long)runs);
    for (size_t i = 0; i < inputs_len; i++)
        input_run(inputs[i].bytes, inputs[i].len);
    input_add(NULL, 0);
    mutations_run(runs);
    for (size_t i = 0; i < inputs_len; i++) free(inputs[i].bytes);
    return 0;
}
