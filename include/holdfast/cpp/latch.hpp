/*
 * holdfast/cpp/latch.hpp: wait for a number of events, or for each other.
 *
 *     holdfast::latch imported(client, "import-42");
 *     imported.set(8);         // one process
 *     imported.count_down();   // eight processes
 *     imported.wait();         // any number of them
 *
 * latch.h and barrier.h say what each status means.
 */
#ifndef HOLDFAST_CPP_LATCH_HPP
#define HOLDFAST_CPP_LATCH_HPP

#include "client.hpp"

namespace holdfast
{

/* How to wait: struct hf_wait_options. */
struct wait_options {
    /* None: no limit.  0: look once, and HF_TAKEN if it is not ready. */
    std::optional<std::chrono::milliseconds> wait;
    const canceller *cancel = nullptr;
};

namespace detail
{

inline hf_wait_options native_options(const wait_options &from)
{
    hf_wait_options raw = HF_WAIT_OPTIONS_INIT;
    wait_set(from.wait, HF_WAIT_TRY, raw.flags, raw.wait_ms);
    if (from.cancel) raw.cancel = from.cancel->native_handle();
    return raw;
}

} // namespace detail

class latch
{
  public:
    static result<latch> try_open(const client &client, std::string_view name)
    {
        detail::c_text text(name);
        if (!text.fits()) return text.refused();
        hf_error err;
        hf_latch *raw;
        if (hf_latch_open(client.native_handle(), text.get(), &raw, &err)
            != HF_OK)
            return failure(name, err);
        return latch(handle(client.core_of(), raw));
    }

    /* HF_TAKEN if it is set already. */
    result<void> try_set(int64_t count)
    {
        hf_error err;
        int status = hf_latch_set(handle_.get(), count, &err);
        return detail::ended(status, name(), err);
    }
    /* Count down by one; gives what is left. */
    result<int64_t> try_count_down()
    {
        return ask(hf_latch_down);
    }
    result<int64_t> try_count()
    {
        return ask(hf_latch_count);
    }
    /* true if it was set; its waiters get HF_LOST. */
    result<bool> try_remove()
    {
        int was_set;
        hf_error err;
        if (hf_latch_delete(handle_.get(), &was_set, &err) != HF_OK)
            return failure(name(), err);
        return was_set != 0;
    }
    /* Look once; HF_TAKEN if it is not open. */
    result<void> try_wait()
    {
        return try_wait_for(std::chrono::milliseconds(0));
    }
    template <class Rep, class Period>
    result<void> try_wait_for(const std::chrono::duration<Rep, Period> &time)
    {
        wait_options options;
        options.wait = detail::wait_of(time);
        return try_wait(options);
    }
    result<void> try_wait(const wait_options &options)
    {
        hf_wait_options raw = detail::native_options(options);
        hf_error err;
        int status = hf_latch_wait(handle_.get(), &raw, &err);
        return detail::ended(status, name(), err);
    }
#if HOLDFAST_CPP_EXCEPTIONS
    latch(const client &client, std::string_view name)
        : latch(try_open(client, name).value())
    {
    }
    void set(int64_t count)
    {
        try_set(count).value();
    }
    int64_t count_down()
    {
        return try_count_down().value();
    }
    int64_t count()
    {
        return try_count().value();
    }
    bool remove()
    {
        return try_remove().value();
    }
    void wait(const wait_options &options = {})
    {
        try_wait(options).value();
    }
#endif

    std::string_view name() const
    {
        return hf_latch_name(handle_.get());
    }
    hf_latch *native_handle() const noexcept
    {
        return handle_.get();
    }

  private:
    using handle = detail::owned<hf_latch, hf_latch_close>;
    explicit latch(handle from) : handle_(std::move(from))
    {
    }
    result<int64_t> ask(int (*call)(hf_latch *, int64_t *, hf_error *))
    {
        int64_t left;
        hf_error err;
        if (call(handle_.get(), &left, &err) != HF_OK)
            return failure(name(), err);
        return left;
    }
    handle handle_;
};

class barrier
{
  public:
    static result<barrier> try_open(const client &client, std::string_view name,
                                    int64_t parties)
    {
        detail::c_text text(name);
        if (!text.fits()) return text.refused();
        hf_error err;
        hf_barrier *raw;
        if (hf_barrier_open(client.native_handle(), text.get(), parties, &raw,
                            &err)
            != HF_OK)
            return failure(name, err);
        return barrier(handle(client.core_of(), raw));
    }

    /* Count as one party, and wait for the others. */
    result<hf_passed> try_arrive_and_wait(const wait_options &options = {})
    {
        hf_wait_options raw = detail::native_options(options);
        hf_passed passed = HF_PASSED_INIT;
        hf_error err;
        if (hf_barrier_wait(handle_.get(), &raw, &passed, &err) != HF_OK)
            return failure(name(), err);
        return passed;
    }
    /* Parties that wait there now. */
    result<int64_t> try_waiting()
    {
        int64_t waiting;
        hf_error err;
        if (hf_barrier_waiting(handle_.get(), &waiting, &err) != HF_OK)
            return failure(name(), err);
        return waiting;
    }
#if HOLDFAST_CPP_EXCEPTIONS
    barrier(const client &client, std::string_view name, int64_t parties)
        : barrier(try_open(client, name, parties).value())
    {
    }
    hf_passed arrive_and_wait(const wait_options &options = {})
    {
        return try_arrive_and_wait(options).value();
    }
    int64_t waiting()
    {
        return try_waiting().value();
    }
#endif

    std::string_view name() const
    {
        return hf_barrier_name(handle_.get());
    }
    hf_barrier *native_handle() const noexcept
    {
        return handle_.get();
    }

  private:
    using handle = detail::owned<hf_barrier, hf_barrier_close>;
    explicit barrier(handle from) : handle_(std::move(from))
    {
    }
    handle handle_;
};

} // namespace holdfast

#endif
