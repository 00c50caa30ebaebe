/*
 * holdfast/cpp/semaphore.hpp: a limited number of holders at a time.
 *
 *     holdfast::semaphore exports(client, "exports", 4);
 *     holdfast::hold permit = exports.acquire();
 *
 * What it gives is a hold, which is renewed like that of a lock; its permits
 * are free again when its holder dies: semaphore.h.
 */
#ifndef HOLDFAST_CPP_SEMAPHORE_HPP
#define HOLDFAST_CPP_SEMAPHORE_HPP

#include "lock.hpp"

namespace holdfast
{

/* Permits, and how many are free: semaphore.h. */
using semaphore_state = struct ::hf_semaphore_state;

class semaphore
{
  public:
    /* hf_semaphore_open(): 0 permits is the number that the store has. */
    static result<semaphore> try_open(const client &client,
                                      std::string_view name,
                                      int64_t permits = 0,
                                      order by = order::any)
    {
        detail::c_text text(name);
        if (!text.fits()) return text.refused();
        hf_semaphore_options options = HF_SEMAPHORE_OPTIONS_INIT;
        options.permits = permits;
        options.order = static_cast<int32_t>(by);
        hf_error err;
        hf_semaphore *raw;
        if (hf_semaphore_open(client.native_handle(), text.get(), &options,
                              &raw, &err)
            != HF_OK)
            return failure(name, err);
        return semaphore(handle(client.core_of(), raw), name);
    }

    /* Try once to get one permit; HF_TAKEN if none is free. */
    result<hold> try_acquire()
    {
        return try_acquire_for(std::chrono::milliseconds(0));
    }
    template <class Rep, class Period>
    result<hold> try_acquire_for(const std::chrono::duration<Rep, Period> &time)
    {
        return try_acquire(detail::waiting({}, time));
    }
    /* As the options say; options.permits permits, or none. */
    result<hold> try_acquire(const acquire_options &options)
    {
        return detail::acquire(handle_.core_of(), handle_.get(), name_, options,
                               hf_semaphore_acquire);
    }
    result<semaphore_state> try_state()
    {
        semaphore_state state = HF_SEMAPHORE_STATE_INIT;
        hf_error err;
        if (::hf_semaphore_state(handle_.get(), &state, &err) != HF_OK)
            return failure(name_, err);
        return state;
    }
    /* Change the number of permits; flags: HF_SEMAPHORE_ANYWAY. */
    result<void> try_set(int64_t number, uint32_t flags = 0)
    {
        hf_error err;
        int status =
            hf_semaphore_set(handle_.get(), number, flags, nullptr, &err);
        return detail::ended(status, name_, err);
    }
#if HOLDFAST_CPP_EXCEPTIONS
    semaphore(const client &client, std::string_view name, int64_t permits = 0,
              order by = order::any)
        : semaphore(try_open(client, name, permits, by).value())
    {
    }
    hold acquire(const acquire_options &options = {})
    {
        return try_acquire(options).value();
    }
    semaphore_state state()
    {
        return try_state().value();
    }
    void set(int64_t number, uint32_t flags = 0)
    {
        try_set(number, flags).value();
    }
#endif

    std::string_view name() const noexcept
    {
        return name_;
    }
    hf_semaphore *native_handle() const noexcept
    {
        return handle_.get();
    }

  private:
    using handle = detail::owned<hf_semaphore, hf_semaphore_close>;
    semaphore(handle from, std::string_view name)
        : handle_(std::move(from)), name_(name)
    {
    }
    handle handle_;
    std::string name_;
};

} // namespace holdfast

#endif
