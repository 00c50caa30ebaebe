/*
 * zookeeper_swap_test.c: what is not sent to a server.
 */
#include <string.h>

#include "backend/zookeeper/zookeeper.h"
#include "lib/fake_env.h"
#include "test.h"

extern const struct backend *const hf_backend_module;

static struct fake_env env;

static void env_end(void *arg)
{
    fake_close(arg);
}

/* The job of a request, as the core has begun it; nobody listens there. */
static struct sql_job *job_begin(struct request *req,
                                 struct fake_answer *answer)
{
    struct hf_error err;
    fake_init(&env, hf_backend_module);
    test_cleanup(env_end, &env);
    CHECK_INT(fake_open(&env, "zookeeper://127.0.0.1:1/", &err), HF_OK);
    *req = (struct request){
        .verb = VERB_VALUE_WRITE, .name = "n", .name_len = 1, .user = answer};
    hf__sql_core_submit(env.conn->cells.core, req);
    hf__sql_core_flush(env.conn->cells.core);
    struct sql_job *job = hf__sql_queue_take(&env.conn->cells.queue);
    CHECK(job != NULL);
    return job;
}

/* A server would drop the connection, and all that is under way on it. */
TEST(zookeeper_swap, of_more_than_a_server_takes_is_refused_in_words)
{
    static char state[CELL_LEN_MAX + 1];
    static struct fake_answer answer;
    static struct request req; /* it ends with the connection */
    struct sql_job *job = job_begin(&req, &answer);
    job->step = SQL_SWAP;
    job->next.state = state;
    job->next.state_len = sizeof state;
    hf__zookeeper_swap_send(env.conn, job);
    CHECK(answer.is_done);
    CHECK_INT(answer.reply.verdict, V_ERROR);
    CHECK_INT(answer.reply.status, HF_UNAVAILABLE);
    CHECK(strstr(answer.text, "more is kept under the name") != NULL);
    CHECK_INT(env.conn->link.out.len, 0);
}

TEST(zookeeper_swap, of_less_is_sent)
{
    static char state[CELL_LEN_MAX - 1000];
    static struct fake_answer answer;
    static struct request req; /* it ends with the connection */
    struct sql_job *job = job_begin(&req, &answer);
    job->step = SQL_SWAP;
    job->next.state = state;
    job->next.state_len = sizeof state;
    hf__zookeeper_swap_send(env.conn, job);
    CHECK(!answer.is_done);
    CHECK(env.conn->link.out.len > sizeof state);
    CHECK(env.conn->link.out.len < 1048575);
}
