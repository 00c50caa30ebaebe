/*
 * without_exceptions.cpp: the try_ forms in a program that is compiled with
 * -fno-exceptions.  Ends with 0 if all of them did what they should.
 */
#include <cstdio>
#include <cstdlib>

#include <holdfast/holdfast.hpp>

static void check(bool ok, const char *what, int line)
{
    if (ok) return;
    std::printf("without_exceptions.cpp:%d: %s\n", line, what);
    std::exit(1);
}
#define CHECK(cond) check(static_cast<bool>(cond), #cond, __LINE__)

template <class T> static T needed(holdfast::result<T> got, int line)
{
    check(static_cast<bool>(got), got.text().c_str(), line);
    return *std::move(got);
}
#define NEEDED(call) needed(call, __LINE__)

static void locks(const holdfast::client &client)
{
    holdfast::lock a = NEEDED(holdfast::lock::try_open(client, "a"));
    holdfast::hold hold = NEEDED(a.try_acquire());
    holdfast::acquire_options other;
    other.holder = hf_holder_new();
    other.wait = std::chrono::milliseconds(0);
    holdfast::result<holdfast::hold> taken = a.try_acquire(other);
    CHECK(!taken && taken.status() == HF_TAKEN);
    CHECK(taken.text().rfind("a: ", 0) == 0);
    CHECK(taken.why().advice() == HF_ADVICE_RETRY);
    CHECK(hold.try_on_state([](const holdfast::event &) {}));
    CHECK(hold.try_extend());
    CHECK(hold.try_release());
    CHECK(a.try_acquire(other));
}

static void others(const holdfast::client &client)
{
    auto permits = NEEDED(holdfast::semaphore::try_open(client, "s", 1));
    holdfast::hold permit = NEEDED(permits.try_acquire());
    CHECK(permits.try_acquire().status() == HF_TAKEN);
    auto latch = NEEDED(holdfast::latch::try_open(client, "l"));
    CHECK(latch.try_set(1));
    CHECK(*latch.try_count_down() == 0);
    auto election = NEEDED(holdfast::election::try_open(client, "e"));
    CHECK(election.try_campaign());
    CHECK(election.try_look()->is_me());
    holdfast::value value(client, "v");
    CHECK(*value.try_write("x", 0) > 0);
    CHECK(*value.try_update([](const holdfast::versioned &now) {
        return *now.data + "y";
    }) > 0);
    CHECK(value.try_read()->data == "xy");
}

int main()
{
    CHECK(!holdfast::client::try_open("nowhere:"));
    holdfast::client client = NEEDED(holdfast::client::try_open("memory:"));
    locks(client);
    others(client);
    return 0;
}
