/*
 * holdfast/cpp/lock.hpp: the lock.
 *
 *     holdfast::lock nightly(client, "nightly");
 *     if (auto hold = nightly.try_acquire_for(std::chrono::seconds(5)))
 *         write_with_token(hold->fence());
 *
 * A lock object is a name on a client; threads may share it.  A hold belongs to
 * the thread that acquired it, unless options.holder says otherwise: a thread
 * that acquires the lock again gets a second hold of it.  For std::unique_lock
 * and its like see mutex.hpp.
 */
#ifndef HOLDFAST_CPP_LOCK_HPP
#define HOLDFAST_CPP_LOCK_HPP

#include "hold.hpp"

namespace holdfast
{

enum class kind {
    plain = HF_KIND_PLAIN,
    read = HF_KIND_READ,
    write = HF_KIND_WRITE
};

enum class order {
    any = HF_ORDER_ANY,
    fair = HF_ORDER_FAIR,
    writers = HF_ORDER_WRITERS
};

/* How to acquire: struct hf_acquire_options.  What is empty or zero is the
 * default; `more` has the fields that are not here. */
struct acquire_options {
    /* None: no limit.  0: try once, and HF_TAKEN if it is held. */
    std::optional<std::chrono::milliseconds> wait;
    std::chrono::milliseconds lease{0};
    std::chrono::milliseconds max_hold{0};
    std::chrono::milliseconds feed{0};
    uint64_t holder = 0;
    int64_t permits = 0;
    const canceller *cancel = nullptr;
    uint32_t flags = 0; /* HF_ACQUIRE_FIXED, HF_ACQUIRE_DETACHED, ... */
    hf_acquire_options more = HF_ACQUIRE_OPTIONS_INIT;
};

namespace detail
{

inline hf_acquire_options native_options(const acquire_options &from)
{
    hf_acquire_options raw = from.more;
    raw.flags |= from.flags;
    wait_set(from.wait, HF_ACQUIRE_TRY, raw.flags, raw.wait_ms);
    if (from.lease.count()) raw.lease_ms = from.lease.count();
    if (from.max_hold.count()) raw.max_hold_ms = from.max_hold.count();
    if (from.feed.count()) raw.feed_ms = from.feed.count();
    if (from.holder) raw.holder = from.holder;
    if (from.permits) raw.permits = from.permits;
    if (from.cancel) raw.cancel = from.cancel->native_handle();
    return raw;
}

/* hf_lock_acquire() or hf_semaphore_acquire(). */
template <class T>
result<hold> acquire(const core_ptr &core, T *object, std::string_view name,
                     const acquire_options &options,
                     int (*call)(T *, const hf_acquire_options *, hf_hold **,
                                 hf_error *))
{
    hf_acquire_options raw = native_options(options);
    hf_error err;
    hf_hold *got = nullptr;
    if (call(object, &raw, &got, &err) != HF_OK) return failure(name, err);
    return hold(core, got);
}

template <class Rep, class Period>
acquire_options waiting(acquire_options options,
                        const std::chrono::duration<Rep, Period> &time)
{
    options.wait = wait_of(time);
    return options;
}

} // namespace detail

class lock
{
  public:
    /* hf_lock_open_as(); sends nothing. */
    static result<lock> try_open(const client &client, std::string_view name,
                                 kind as = kind::plain, order by = order::any)
    {
        detail::c_text text(name);
        if (!text.fits()) return text.refused();
        hf_lock_options options = HF_LOCK_OPTIONS_INIT;
        options.kind = static_cast<int32_t>(as);
        options.order = static_cast<int32_t>(by);
        hf_error err;
        hf_lock *raw;
        if (hf_lock_open_as(client.native_handle(), text.get(), &options, &raw,
                            &err)
            != HF_OK)
            return failure(name, err);
        return lock(handle(client.core_of(), raw));
    }

    /* Try once; HF_TAKEN if another holder has it. */
    result<hold> try_acquire()
    {
        return try_acquire_for(std::chrono::milliseconds(0));
    }
    /* Wait at most this long. */
    template <class Rep, class Period>
    result<hold> try_acquire_for(const std::chrono::duration<Rep, Period> &time)
    {
        return try_acquire(detail::waiting({}, time));
    }
    /* As the options say: without options.wait, without a limit. */
    result<hold> try_acquire(const acquire_options &options)
    {
        return detail::acquire(handle_.core_of(), handle_.get(), name(),
                               options, hf_lock_acquire);
    }
    /* Take over a hold that another process has detached. */
    result<hold> try_attach(std::string_view ticket,
                            std::chrono::milliseconds lease = {})
    {
        hf_error err;
        hf_hold *got;
        if (hf_lock_attach(handle_.get(), detail::c_text(ticket).get(),
                           lease.count(), &got, &err)
            != HF_OK)
            return failure(name(), err);
        return hold(handle_.core_of(), got);
    }
    /* What the store knows about the lock. */
    result<hf_info> try_inspect()
    {
        hf_info info = HF_INFO_INIT;
        hf_error err;
        if (hf_lock_inspect(handle_.get(), &info, &err) != HF_OK)
            return failure(name(), err);
        return info;
    }
    /* Take the lock away from its holder; true if there was one. */
    result<bool> try_break()
    {
        int was_locked;
        hf_error err;
        if (hf_lock_break(handle_.get(), &was_locked, &err) != HF_OK)
            return failure(name(), err);
        return was_locked != 0;
    }
#if HOLDFAST_CPP_EXCEPTIONS
    lock(const client &client, std::string_view name, kind as = kind::plain,
         order by = order::any)
        : lock(try_open(client, name, as, by).value())
    {
    }
    hold acquire(const acquire_options &options = {})
    {
        return try_acquire(options).value();
    }
    hold attach(std::string_view ticket, std::chrono::milliseconds lease = {})
    {
        return try_attach(ticket, lease).value();
    }
    hf_info inspect()
    {
        return try_inspect().value();
    }
    bool break_it()
    {
        return try_break().value();
    }
#endif

    std::string_view name() const
    {
        return hf_lock_name(handle_.get());
    }
    hf_lock *native_handle() const noexcept
    {
        return handle_.get();
    }

  private:
    using handle = detail::owned<hf_lock, hf_lock_close>;
    explicit lock(handle from) : handle_(std::move(from))
    {
    }
    handle handle_;
};

} // namespace holdfast

#endif
