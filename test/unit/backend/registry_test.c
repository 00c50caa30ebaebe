/*
 * registry_test.c: a scheme finds its backend, or an error text says why not.
 */
#include "backend/registry.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends.h"
#include "test.h"

static struct hf_error err;

static void path_forget(void *arg)
{
    (void)arg;
    unsetenv("HOLDFAST_MODULE_PATH");
}

static void path_use(const char *path)
{
    CHECK(setenv("HOLDFAST_MODULE_PATH", path, 1) == 0);
    test_cleanup(path_forget, NULL);
}

/* A build with a module, and without a store that needs a package. */
static const struct backend_folder others[] = {
    {"echo", "ping echo", NULL, {NULL}},
    {"zookeeper", "zookeeper zk", NULL, {NULL}},
    {"etcd", "etcd etcds", "install the package libetcd-dev", {NULL}},
    {NULL, NULL, NULL, {NULL}},
};

static void refuses_in(const struct backend_folder *folders, const char *scheme,
                       int status, const char *words)
{
    memset(&err, 0, sizeof err);
    CHECK(hf__backend_find_in(folders, scheme, &err) == NULL);
    CHECK_INT(err.status, status);
    if (!strstr(err.text, words))
        TEST_FAIL("\"%s\" does not say \"%s\"", err.text, words);
}

/* The scheme is refused with this status and these words. */
static void refuses(const char *scheme, int status, const char *words)
{
    refuses_in(hf__backend_folders, scheme, status, words);
}

TEST(registry, finds_what_is_built_in)
{
    CHECK(hf__backend_find("memory", &err) == &hf__backend_memory);
    CHECK(hf__backend_find("file", &err) == &hf__backend_file);
}

TEST(registry, built_in_backends_have_this_abi)
{
    CHECK_INT(hf__backend_memory.abi, BACKEND_ABI);
    CHECK_INT(hf__backend_file.abi, BACKEND_ABI);
}

static int words_len(const char *words)
{
    int len = 0;
    for (const char *p = words; *p; p += strspn(p, " "), len++)
        p += strcspn(p, " ");
    return len;
}

/* A module.cmake and its backends name the same schemes. */
TEST(registry, a_folder_names_the_schemes_of_its_backends)
{
    for (const struct backend_folder *f = hf__backend_folders; f->name; f++) {
        char scheme[64];
        int len = 0;
        for (int i = 0; i < FOLDER_TABLES_MAX && f->tables[i]; i++)
            len += words_len(f->tables[i]->scheme);
        if (len == 0) continue; /* left out, or a module */
        CHECK_INT(words_len(f->schemes), len);
        for (const char *p = f->schemes; *p; p += strspn(p, " ")) {
            snprintf(scheme, sizeof scheme, "%.*s", (int)strcspn(p, " "), p);
            if (!hf__backend_find(scheme, &err)) TEST_FAIL("%s", err.text);
            p += strlen(scheme);
        }
    }
}

TEST(registry, lists_the_known_for_an_unknown_scheme)
{
    refuses("gopher", HF_INVALID, "url: scheme gopher: unknown: known are");
    refuses("mem", HF_INVALID, "file, ");
    refuses("mem", HF_INVALID, "memory, ");
    refuses("mem", HF_INVALID, "redis, rediss, redis+unix, ");
    refuses("mem", HF_INVALID, ", redlock, quorum");
    CHECK(strstr(err.text, "ping") == NULL);
    refuses("", HF_INVALID, "unknown");
    refuses_in(others, "memory", HF_INVALID,
               "known are ping, echo, zookeeper, zk, etcd, etcds, redlock");
}

TEST(registry, says_that_a_scheme_without_a_module_is_not_available)
{
    refuses_in(others, "zookeeper", HF_UNSUPPORTED,
               "zookeeper: not available in this version: there is no module "
               "libholdfast-zookeeper.so");
    refuses_in(others, "zk", HF_UNSUPPORTED,
               "zk: not available in this version: there is no module "
               "libholdfast-zookeeper.so");
    CHECK(strstr(err.text, "install") == NULL);
}

TEST(registry, says_what_brings_a_store_that_was_left_out)
{
    refuses_in(others, "etcds", HF_UNSUPPORTED,
               "etcds: not built in: install the package libetcd-dev");
}

TEST(registry, finds_a_module_by_the_name_of_its_folder)
{
    path_use(TEST_MODULE_DIR);
    CHECK(hf__backend_find_in(others, "echo", &err) != NULL);
    refuses_in(others, "ping", HF_UNSUPPORTED, "serves only: echo");
    refuses("ping", HF_INVALID, "unknown");
}

TEST(registry, serves_redis_with_and_without_tls_alike)
{
    CHECK(hf__backend_find("rediss", NULL) == hf__backend_find("redis", NULL));
}

TEST(registry, error_may_be_null)
{
    CHECK(hf__backend_find("gopher", NULL) == NULL);
}

TEST(registry, loads_a_module_from_the_path)
{
    path_use("/nonexistent::" TEST_MODULE_DIR ":/dev/null");
    const struct backend *b = hf__backend_find("echo", &err);
    if (!b) TEST_FAIL("%s", err.text);
    CHECK_STR(b->scheme, "echo");
    CHECK(hf__backend_find("echo", &err) == b);
}

TEST(registry, a_loaded_module_stays_when_its_path_is_gone)
{
    path_use(TEST_MODULE_DIR);
    const struct backend *b = hf__backend_find("echo", &err);
    CHECK(b != NULL);
    unsetenv("HOLDFAST_MODULE_PATH");
    CHECK_STR(b->scheme, "echo");
    refuses("echo", HF_INVALID, "unknown");
}

TEST(registry, does_not_leave_the_path)
{
    path_use(TEST_MODULE_DIR);
    refuses("../module/echo", HF_INVALID, "unknown");
    refuses("echo.so", HF_INVALID, "unknown");
}

TEST(registry, refuses_a_module_of_another_abi)
{
    path_use(TEST_MODULE_DIR);
    refuses("old", HF_UNSUPPORTED, "of the module interface");
}

TEST(registry, refuses_a_library_that_is_no_module)
{
    path_use(TEST_MODULE_DIR);
    refuses("blank", HF_UNSUPPORTED, "no symbol hf_backend_module");
}

static char dir[] = "/tmp/holdfast-registry-XXXXXX";
static char module[sizeof dir + 64];

static void module_remove(void *arg)
{
    (void)arg;
    unlink(module);
    rmdir(dir);
}

/* A directory with one module of the given name in it. */
static void module_place(const char *name)
{
    memcpy(dir + sizeof dir - 7, "XXXXXX", 6);
    CHECK(mkdtemp(dir) != NULL);
    snprintf(module, sizeof module, "%s/libholdfast-%s.so", dir, name);
    test_cleanup(module_remove, NULL);
    path_use(dir);
}

TEST(registry, says_what_the_loader_said_of_a_broken_file)
{
    module_place("etcd");
    FILE *f = fopen(module, "w");
    CHECK(f && fputs("no library", f) >= 0 && fclose(f) == 0);
    refuses("etcd", HF_UNSUPPORTED, "etcd: module ");
    CHECK(strstr(err.text, "not available") == NULL);
}

TEST(registry, refuses_a_module_under_another_name)
{
    module_place("sqlite");
    CHECK(symlink(TEST_MODULE_DIR "/libholdfast-echo.so", module) == 0);
    refuses("sqlite", HF_UNSUPPORTED, "serves only: echo");
}

static void *finder(void *arg)
{
    struct hf_error mine;
    *(const struct backend **)arg = hf__backend_find("echo", &mine);
    return NULL;
}

TEST(registry, threads_find_the_same_module)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    const struct backend *found[THREADS] = {NULL};
    path_use(TEST_MODULE_DIR);
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_create(&threads[i], NULL, finder, &found[i]));
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    CHECK(found[0] != NULL);
    for (int i = 1; i < THREADS; i++) CHECK(found[i] == found[0]);
}

/* What the module answered last. */
static struct reply answer;
static int answers;

static void on_reply(struct backend_env *env, struct request *req,
                     const struct reply *reply)
{
    (void)env, (void)req;
    answer = *reply;
    answers++;
}

static int64_t on_now(struct backend_env *env)
{
    (void)env;
    return 1;
}

static void on_timer(struct backend_env *env, int64_t due_us)
{
    (void)env, (void)due_us;
}

TEST(registry, a_loaded_module_works)
{
    struct backend_env env = {.alloc = &hf__alloc_default,
                              .reply = on_reply,
                              .now = on_now,
                              .timer = on_timer};
    struct backend_conn *c = NULL;
    struct request req = {.verb = VERB_PROPOSE, .name = "n", .name_len = 1};
    struct url url;
    path_use(TEST_MODULE_DIR);
    const struct backend *b = hf__backend_find("echo", &err);
    CHECK(b != NULL);
    CHECK_INT(hf__url_parse(&url, "echo:", &err), HF_OK);
    CHECK_INT(b->open(&env, &url, &c, &err), HF_INVALID);
    CHECK_STR(err.text, "echo: no host");
    CHECK_INT(hf__url_parse(&url, "echo://here", &err), HF_OK);
    CHECK_INT(b->open(&env, &url, &c, &err), HF_OK);
    answers = 0;
    b->submit(c, &req);
    CHECK_INT(answers, 0);
    b->flush(c);
    CHECK_INT(answers, 1);
    CHECK_INT(answer.verdict, V_GRANTED);
    CHECK_INT(answer.fence, 1);
    b->submit(c, &req);
    b->close(c);
    CHECK_INT(answers, 2);
    CHECK_INT(answer.verdict, V_UNSENT);
}
