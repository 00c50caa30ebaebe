/*
 * kind_claims.cpp: semaphores, latches, barriers, elections and values from
 * C++, on the store that url= names, if it has them.
 */
#include <stdexcept>
#include <thread>

#include "claim.hpp"

using namespace std::chrono_literals;

CLAIM(cpp_semaphore, lets_as_many_in_as_it_has_permits)
{
    holdfast::client client(rig_url());
    holdfast::semaphore two(client, "two", 2);
    holdfast::hold first = two.acquire();
    {
        holdfast::hold second = two.acquire();
        CHECK_INT(two.try_acquire().status(), HF_TAKEN);
        CHECK_INT(two.try_acquire_for(1ms).status(), HF_TIMEOUT);
        holdfast::semaphore_state state = two.state();
        CHECK_INT(state.taken, 2);
        CHECK_INT(state.available, 0);
    }
    CHECK(two.try_acquire());
    first.release();
    holdfast::acquire_options both;
    both.permits = 2;
    both.wait = 60s;
    holdfast::hold all = two.acquire(both);
    CHECK_INT(all.count(), 2);
    if (!client.can(HF_CAP_PERMIT)) return;
    two.set(3);
    CHECK_INT(two.state().available, 1);
}

CLAIM(cpp_latch, opens_at_zero)
{
    holdfast::client client(rig_url());
    if (!client.can(HF_CAP_TALLY)) return;
    holdfast::latch latch(client, "latch");
    latch.wait();
    latch.set(2);
    CHECK_INT(claim::thrown([&] { latch.set(2); }), HF_TAKEN);
    CHECK_INT(latch.count_down(), 1);
    CHECK_INT(latch.count(), 1);
    CHECK_INT(latch.try_wait().status(), HF_TAKEN);
    CHECK_INT(latch.try_wait_for(1ms).status(), HF_TIMEOUT);
    std::thread last([&] { latch.count_down(); });
    int status = latch.try_wait_for(60s).status();
    last.join();
    CHECK_INT(status, HF_OK);
    latch.set(1);
    CHECK(latch.remove());
    CHECK(!latch.remove());
}

CLAIM(cpp_barrier, lets_all_parties_through_together)
{
    holdfast::client client(rig_url());
    if (!client.can(HF_CAP_TALLY)) return;
    holdfast::barrier barrier(client, "barrier", 2);
    CHECK_INT(barrier.waiting(), 0);
    holdfast::wait_options once;
    once.wait = 0ms;
    CHECK_INT(barrier.try_arrive_and_wait(once).status(), HF_TAKEN);
    hf_passed there = HF_PASSED_INIT;
    std::thread other([&] { there = barrier.arrive_and_wait(); });
    hf_passed here = barrier.arrive_and_wait();
    other.join();
    CHECK_INT(here.generation, there.generation);
    CHECK_INT(here.index + there.index, 1);
}

CLAIM(cpp_election, shows_the_leader_and_its_value)
{
    holdfast::client client(rig_url());
    if (!client.can(HF_CAP_VALUE | HF_CAP_FENCE)) return;
    holdfast::election one(client, "e", 60s);
    holdfast::election two(client, "e");
    CHECK(!two.look().is_led());
    holdfast::campaign_options options;
    options.value = "first";
    one.campaign(options);
    CHECK(one.fence() > 0);
    CHECK(one.valid_for() > 0ms);
    CHECK(one.state() == holdfast::state::held);
    options.wait = 0ms;
    CHECK_INT(two.try_campaign(options).status(), HF_TAKEN);
    holdfast::leader seen = two.look();
    CHECK(seen.is_led() && !seen.is_me() && seen.value == "first");
    CHECK_INT(seen.info.fence, one.fence());
    one.publish("second");
    seen = two.await(seen, 60s);
    CHECK(seen.value == "second");
    CHECK_INT(two.try_await(seen, 0ms).status(), HF_TIMEOUT);
    one.resign();
    CHECK_INT(claim::thrown([&] { one.resign(); }), HF_NOT_OWNER);
    CHECK(one.state() == holdfast::state::none);
    options.wait = 60s;
    two.campaign(options);
    CHECK(two.look().is_me());
}

CLAIM(cpp_value, is_written_only_if_it_has_not_changed)
{
    holdfast::client client(rig_url());
    if (!client.can(HF_CAP_VALUE)) return;
    holdfast::value value(client, "v");
    CHECK(!value.read().data);
    uint64_t first = value.write("one", 0);
    CHECK_INT(claim::thrown([&] { value.write("two", 0); }), HF_CHANGED);
    value.write("", first, 60s);
    holdfast::versioned now = value.read();
    CHECK(now.data && now.data->empty());
    CHECK(now.ttl && *now.ttl > 0ms);
    CHECK_INT(value.try_remove(first).status(), HF_CHANGED);
    value.remove(now.version);
    CHECK(!value.read().data && !value.read().ttl);
}

CLAIM(cpp_value, is_updated_until_the_function_throws)
{
    holdfast::client client(rig_url());
    if (!client.can(HF_CAP_VALUE)) return;
    holdfast::value visits(client, "visits");
    auto count = [](const holdfast::versioned &now) {
        return std::to_string(now.data ? std::stol(*now.data) + 1 : 1);
    };
    visits.update(count);
    CHECK_INT(visits.update(count), visits.read().version);
    CHECK(visits.read().data == "2");
    bool caught = false;
    try {
        visits.update([](const holdfast::versioned &) -> std::string {
            throw std::logic_error("mine");
        });
    } catch (const std::logic_error &) {
        caught = true;
    }
    CHECK(caught);
    CHECK(visits.read().data == "2");
    CHECK_INT(
        visits.update([](const holdfast::versioned &) { return std::nullopt; }),
        0);
    CHECK(!visits.read().data);
}
