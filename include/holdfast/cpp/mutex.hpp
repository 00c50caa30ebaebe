/*
 * holdfast/cpp/mutex.hpp: locks for std::unique_lock, std::lock_guard,
 * std::scoped_lock and std::shared_lock.
 *
 *     holdfast::mutex nightly(client, "nightly");
 *     std::unique_lock guard(nightly, std::chrono::seconds(5));
 *     if (guard) write_with_token(nightly.fence());
 *
 * mutex is a TimedLockable, shared_mutex a SharedTimedLockable.  Both behave
 * like std::recursive_timed_mutex: a thread may lock again what it has locked,
 * and unlocks it as often.  Unlike those, a lock can be lost while it is held:
 * fence() and valid_for() speak of the calling thread's hold, and on_state of
 * the client's options is told.
 *
 * lock() throws holdfast::error.  try_lock() and its like return false for
 * HF_TAKEN and HF_TIMEOUT, and throw for everything else.  unlock() throws
 * nothing, since guards call it as they are destroyed: try_unlock() tells how
 * the release ended.
 */
#ifndef HOLDFAST_CPP_MUTEX_HPP
#define HOLDFAST_CPP_MUTEX_HPP

#include <algorithm>
#include <thread>
#include <vector>

#include "lock.hpp"

#if HOLDFAST_CPP_EXCEPTIONS
namespace holdfast
{

namespace detail
{

/* One lock, and what each thread holds of it, last acquired last. */
class side
{
  public:
    side(const client &client, std::string_view name, kind as, order by,
         acquire_options options)
        : lock_(client, name, as, by), options_(std::move(options))
    {
    }
    void acquire()
    {
        keep(lock_.acquire(options_));
    }
    bool try_acquire(std::optional<std::chrono::milliseconds> wait)
    {
        acquire_options options = options_;
        options.wait = wait;
        result<hold> got = lock_.try_acquire(options);
        if (got.status() == HF_TAKEN || got.status() == HF_TIMEOUT)
            return false;
        keep(std::move(got).value());
        return true;
    }
    result<void> release()
    {
        std::unique_lock<std::mutex> guard(mutex_);
        auto at = mine();
        if (at == kept_.rend())
            return failed(lock_.name(), HF_NOT_OWNER,
                          "not locked by this thread");
        hold last = std::move(at->second);
        kept_.erase(std::next(at).base());
        guard.unlock();
        return last.try_release();
    }
    /* `ask` of the calling thread's hold; `none` if it has none. */
    template <class T> T of_mine(T (hold::*ask)() const noexcept, T none) const
    {
        std::lock_guard<std::mutex> guard(mutex_);
        auto at = mine();
        return at == kept_.rend() ? none : (at->second.*ask)();
    }

  private:
    using entry = std::pair<std::thread::id, hold>;

    void keep(hold got)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        kept_.emplace_back(std::this_thread::get_id(), std::move(got));
    }
    std::vector<entry>::reverse_iterator mine() const
    {
        return std::find_if(kept_.rbegin(), kept_.rend(), [](const entry &e) {
            return e.first == std::this_thread::get_id();
        });
    }

    lock lock_;
    acquire_options options_;
    mutable std::mutex mutex_; /* of kept_, never held during a call */
    mutable std::vector<entry> kept_;
};

/* What is left of a wait until `time`. */
template <class Clock, class Duration>
auto left(const std::chrono::time_point<Clock, Duration> &time)
{
    return wait_of(time - Clock::now());
}

} // namespace detail

/* An exclusive lock. */
class mutex
{
  public:
    /* `options` are those of every acquire; options.wait is not used. */
    mutex(const client &client, std::string_view name,
          acquire_options options = {}, order by = order::any)
        : side_(client, name, kind::plain, by, std::move(options))
    {
    }
    mutex(const mutex &) = delete;
    mutex &operator=(const mutex &) = delete;

    void lock()
    {
        side_.acquire();
    }
    bool try_lock()
    {
        return side_.try_acquire(std::chrono::milliseconds(0));
    }
    template <class Rep, class Period>
    bool try_lock_for(const std::chrono::duration<Rep, Period> &time)
    {
        return side_.try_acquire(detail::wait_of(time));
    }
    template <class Clock, class Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration> &time)
    {
        return side_.try_acquire(detail::left(time));
    }
    void unlock() noexcept
    {
        static_cast<void>(side_.release());
    }
    result<void> try_unlock()
    {
        return side_.release();
    }

    /* Of the calling thread's hold: 0, 0 ms and none without one. */
    uint64_t fence() const
    {
        return side_.of_mine(&hold::fence, uint64_t{0});
    }
    std::chrono::milliseconds valid_for() const
    {
        return side_.of_mine(&hold::valid_for, std::chrono::milliseconds(0));
    }
    holdfast::state state() const
    {
        return side_.of_mine(&hold::state, holdfast::state::none);
    }

  private:
    detail::side side_;
};

/* A read/write lock: needs HF_CAP_RW. */
class shared_mutex
{
  public:
    shared_mutex(const client &client, std::string_view name,
                 acquire_options options = {}, order by = order::any)
        : write_(client, name, kind::write, by, options),
          read_(client, name, kind::read, by, options)
    {
    }
    shared_mutex(const shared_mutex &) = delete;
    shared_mutex &operator=(const shared_mutex &) = delete;

    void lock()
    {
        write_.acquire();
    }
    bool try_lock()
    {
        return write_.try_acquire(std::chrono::milliseconds(0));
    }
    template <class Rep, class Period>
    bool try_lock_for(const std::chrono::duration<Rep, Period> &time)
    {
        return write_.try_acquire(detail::wait_of(time));
    }
    template <class Clock, class Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration> &time)
    {
        return write_.try_acquire(detail::left(time));
    }
    void unlock() noexcept
    {
        static_cast<void>(write_.release());
    }
    result<void> try_unlock()
    {
        return write_.release();
    }

    void lock_shared()
    {
        read_.acquire();
    }
    bool try_lock_shared()
    {
        return read_.try_acquire(std::chrono::milliseconds(0));
    }
    template <class Rep, class Period>
    bool try_lock_shared_for(const std::chrono::duration<Rep, Period> &time)
    {
        return read_.try_acquire(detail::wait_of(time));
    }
    template <class Clock, class Duration>
    bool try_lock_shared_until(
        const std::chrono::time_point<Clock, Duration> &time)
    {
        return read_.try_acquire(detail::left(time));
    }
    void unlock_shared() noexcept
    {
        static_cast<void>(read_.release());
    }
    result<void> try_unlock_shared()
    {
        return read_.release();
    }

    /* Of the calling thread's exclusive hold: 0 and 0 ms without one. */
    uint64_t fence() const
    {
        return write_.of_mine(&hold::fence, uint64_t{0});
    }
    std::chrono::milliseconds valid_for() const
    {
        return write_.of_mine(&hold::valid_for, std::chrono::milliseconds(0));
    }
    /* Of its shared hold. */
    std::chrono::milliseconds shared_valid_for() const
    {
        return read_.of_mine(&hold::valid_for, std::chrono::milliseconds(0));
    }

  private:
    detail::side write_;
    detail::side read_;
};

} // namespace holdfast
#endif

#endif
