/*
 * lock_claims.cpp: clients, locks, holds and mutexes from C++, on the store
 * that url= names.
 */
#include <atomic>
#include <csignal>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "claim.hpp"

using namespace std::chrono_literals;

namespace
{

/* Wait for what another thread does, at most a minute. */
template <class Cond> bool until(Cond &&cond)
{
    for (int i = 0; i < 6000; i++) {
        if (cond()) return true;
        std::this_thread::sleep_for(10ms);
    }
    return cond();
}

/* `call` on a thread of its own, which is another holder. */
template <class Call> auto elsewhere(Call &&call)
{
    decltype(call()) out{};
    std::thread([&] { out = call(); }).join();
    return out;
}

/* A hold whose loss is noticed soon, and that no stall ends. */
holdfast::acquire_options renewed()
{
    holdfast::acquire_options options;
    options.lease = 60s;
    options.more.renew_ms = 100;
    return options;
}

/* Can a holder that runs have its lock taken away? */
bool can_break(const holdfast::client &client)
{
    return client.can(HF_CAP_BREAK) && !client.can(HF_CAP_KERNEL);
}

} // namespace

CLAIM(cpp_mutex, excludes_other_threads_under_a_lock_guard)
{
    holdfast::client client(rig_url());
    holdfast::mutex m(client, "a");
    auto try_once = [&] {
        if (!m.try_lock()) return false;
        m.unlock();
        return true;
    };
    {
        std::lock_guard guard(m);
        CHECK(!elsewhere(try_once));
        CHECK(!elsewhere([&] { return m.try_lock_for(1ms); }));
        auto soon = std::chrono::steady_clock::now() + 1ms;
        CHECK(!elsewhere([&] { return m.try_lock_until(soon); }));
    }
    CHECK(elsewhere(try_once));
}

CLAIM(cpp_mutex, works_with_a_timed_unique_lock_and_tells_its_fence)
{
    holdfast::client client(rig_url());
    holdfast::mutex m(client, "a");
    uint64_t first;
    {
        std::unique_lock guard(m, 60s);
        CHECK(guard.owns_lock());
        CHECK(m.state() == holdfast::state::held);
        CHECK(m.valid_for() > 0ms);
        first = m.fence();
        CHECK(first > 0);
        CHECK_INT(elsewhere([&] { return m.fence(); }), 0);
    }
    CHECK_INT(m.fence(), 0);
    CHECK(m.state() == holdfast::state::none);
    std::unique_lock guard(m);
    CHECK(m.fence() > first);
}

CLAIM(cpp_mutex, is_recursive_and_locks_together_with_others)
{
    holdfast::client client(rig_url());
    holdfast::mutex a(client, "a");
    holdfast::mutex b(client, "b");
    {
        std::scoped_lock guard(a, b);
        std::lock_guard again(a);
        CHECK(a.fence() > 0);
        CHECK(!elsewhere([&] { return b.try_lock(); }));
    }
    CHECK_INT(a.try_unlock().status(), HF_NOT_OWNER);
    CHECK(elsewhere([&] { return a.try_lock() && a.try_unlock(); }));
}

CLAIM(cpp_mutex, shares_with_readers_and_excludes_writers)
{
    holdfast::client client(rig_url());
    if (!client.can(HF_CAP_RW)) return;
    holdfast::shared_mutex m(client, "rw");
    {
        std::shared_lock reading(m);
        CHECK(m.shared_valid_for() > 0ms);
        CHECK(elsewhere(
            [&] { return m.try_lock_shared() && m.try_unlock_shared(); }));
        CHECK(!elsewhere([&] { return m.try_lock(); }));
        CHECK(!elsewhere([&] { return m.try_lock_for(1ms); }));
    }
    std::lock_guard writing(m);
    CHECK(m.fence() > 0);
    CHECK(!elsewhere([&] { return m.try_lock_shared_for(1ms); }));
}

CLAIM(cpp_hold, is_released_at_the_end_of_its_scope)
{
    holdfast::client client(rig_url());
    holdfast::lock a(client, "a");
    {
        holdfast::hold one = a.acquire();
        holdfast::hold moved = std::move(one);
        CHECK(one.native_handle() == nullptr);
        CHECK(moved.state() == holdfast::state::held);
        CHECK(moved.name() == "a");
        CHECK_INT(elsewhere([&] { return a.try_acquire().status(); }),
                  HF_TAKEN);
        CHECK(a.inspect().locked);
    }
    CHECK_INT(elsewhere([&] { return a.try_acquire().status(); }), HF_OK);
    holdfast::hold hold = a.acquire();
    hold.extend();
    hold.release();
    CHECK_INT(hold.try_release().status(), HF_INVALID);
    CHECK_INT(hold.try_feed().status(), HF_INVALID);
    CHECK(hold.state() == holdfast::state::none);
}

CLAIM(cpp_hold, outlives_the_names_that_it_came_from)
{
    auto hold = [] {
        holdfast::client client(rig_url());
        holdfast::lock a(client, "a");
        return a.acquire();
    }();
    CHECK(hold.state() == holdfast::state::held);
    hold.release();
}

CLAIM(cpp_hold, goes_to_another_client_as_a_ticket)
{
    holdfast::client client(rig_url());
    if (!client.can(HF_CAP_DETACHED)) return;
    holdfast::lock a(client, "a");
    holdfast::acquire_options options;
    options.flags = HF_ACQUIRE_DETACHED;
    options.lease = 60s;
    std::string ticket = a.acquire(options).ticket();
    holdfast::client other(rig_url());
    holdfast::lock same(other, "a");
    holdfast::hold hold = same.attach(ticket);
    CHECK_INT(hold.lease().count(), 30000);
    hold.release();
    CHECK_INT(same.try_attach("no ticket").status(), HF_INVALID);
}

CLAIM(cpp_hold, tells_of_its_loss_until_it_is_released)
{
    holdfast::client client(rig_url());
    if (!can_break(client)) return;
    holdfast::lock a(client, "a");
    holdfast::hold hold = a.acquire(renewed());
    auto lost = std::make_shared<std::atomic<int>>(0);
    std::weak_ptr<std::atomic<int>> kept = lost;
    hold.on_state([lost](const holdfast::event &ev) {
        if (ev.state() == holdfast::state::lost && ev.name() == "a") ++*lost;
    });
    CHECK(a.break_it());
    CHECK(until([&] { return *lost == 1; }));
    CHECK(hold.state() == holdfast::state::lost);
    CHECK(!hold.why().empty());
    CHECK(hold.try_release().status() != HF_OK);
    lost.reset();
    CHECK(until([&] { return kept.expired(); }));
}

CLAIM(cpp_callback, that_throws_reaches_on_exception)
{
    std::atomic<int> told{0};
    holdfast::client_options options;
    options.on_exception = [&](std::exception_ptr thrown) {
        try {
            std::rethrow_exception(thrown);
        } catch (const std::logic_error &) {
            told++;
        }
    };
    options.on_state = [](const holdfast::event &) {
        throw std::logic_error("of the client");
    };
    holdfast::client client(rig_url(), options);
    if (!can_break(client)) return;
    holdfast::lock a(client, "a");
    holdfast::hold hold = a.acquire(renewed());
    hold.on_state(
        [](const holdfast::event &) { throw std::logic_error("of the hold"); });
    CHECK(a.break_it());
    CHECK(until([&] { return told == 2; }));
}

/* In a child of its own: the store, too. */
static void throw_in_a_callback()
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    close(STDERR_FILENO);
    holdfast::client client("memory:");
    holdfast::lock a(client, "a");
    holdfast::hold hold = a.acquire(renewed());
    hold.on_state([](const holdfast::event &) { throw 1; });
    a.break_it();
    std::this_thread::sleep_for(60s);
}

CLAIM(cpp_callback, that_throws_ends_the_program_without_on_exception)
{
    pid_t child = fork();
    if (child == 0) {
        throw_in_a_callback();
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

CLAIM(cpp_callback, of_the_log_gets_lines)
{
    std::atomic<int> warnings{0};
    holdfast::client_options options;
    options.log = [&](int level, std::string_view line) {
        if (level == HF_LOG_WARN && line.find("tls_verify") != line.npos)
            warnings++;
    };
    auto client = holdfast::client::try_open(
        "rediss://127.0.0.1:1?tls_verify=off", options);
    if (client.status() == HF_UNSUPPORTED) return;
    CHECK(client);
    CHECK(until([&] { return warnings > 0; }));
}

CLAIM(cpp_error, has_the_status_and_the_name)
{
    holdfast::client client(rig_url());
    holdfast::lock a(client, "a");
    holdfast::hold hold = a.acquire();
    bool told = elsewhere([&] {
        holdfast::acquire_options once;
        once.wait = 0ms;
        try {
            holdfast::hold other = a.acquire(once);
        } catch (const holdfast::error &e) {
            return e.status() == HF_TAKEN && e.advice() == HF_ADVICE_RETRY
                   && std::string(e.what()).rfind("a: ", 0) == 0;
        }
        return false;
    });
    CHECK(told);
    CHECK_INT(claim::thrown([] { holdfast::client("nowhere:"); }), HF_INVALID);
}

CLAIM(cpp_error, is_given_for_a_name_with_a_nul)
{
    using namespace std::string_literals;
    holdfast::client client(rig_url());
    CHECK_INT(holdfast::lock::try_open(client, "a\0b"s).status(), HF_INVALID);
    CHECK_INT(holdfast::lock::try_open(client, "").status(), HF_INVALID);
    CHECK_INT(holdfast::semaphore::try_open(client, "a\0b"s, 1).status(),
              HF_INVALID);
    CHECK_INT(holdfast::value(client, "a\0b"s).try_read().status(), HF_INVALID);
    CHECK_INT(holdfast::client::try_open("memory:\0x"s).status(), HF_INVALID);
}

CLAIM(cpp_wait, ends_when_its_token_is_fired)
{
    holdfast::client client(rig_url());
    holdfast::lock a(client, "a");
    holdfast::hold hold = a.acquire();
    holdfast::canceller token(client);
    holdfast::acquire_options options;
    options.cancel = &token;
    std::thread firing([&] { token.fire(); });
    int status = elsewhere([&] { return a.try_acquire(options).status(); });
    firing.join();
    CHECK_INT(status, HF_CANCELLED);
    token.reset();
    options.wait = 1ms;
    CHECK_INT(elsewhere([&] { return a.try_acquire(options).status(); }),
              HF_TIMEOUT);
}

CLAIM(cpp_wait, counts_any_duration)
{
    using holdfast::detail::wait_of;
    CHECK(wait_of(std::chrono::microseconds(1)) == 1ms);
    CHECK(wait_of(1500us) == 2ms);
    CHECK(wait_of(-5s) == 0ms);
    CHECK(wait_of(std::chrono::duration<double>(0.25)) == 250ms);
    CHECK(!wait_of(std::chrono::hours::max()));
    CHECK(!wait_of(std::chrono::nanoseconds::max() / 2));
}

CLAIM(cpp_client, runs_on_the_loop_of_the_program)
{
    holdfast::client_options options;
    options.own_loop = true;
    options.label = "mine";
    options.lease = 45s;
    holdfast::client client(rig_url(), options);
    CHECK(client.fd() >= 0);
    CHECK_INT(client.try_process().status(), HF_OK);
    holdfast::lock a(client, "a");
    holdfast::hold hold = a.acquire();
    CHECK_INT(hold.lease().count(), 45000);
    CHECK_INT(client.stats().held, 1);
    holdfast::client other(rig_url());
    CHECK(other.fd() < 0);
    CHECK_INT(other.try_process().status(), HF_INVALID);
    CHECK(!other.url().empty());
}
