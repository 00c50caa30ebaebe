/*
 * holdfast/cpp/hold.hpp: what a call has acquired.
 *
 *     holdfast::hold hold = nightly.acquire();
 *     hold.on_state([&](const holdfast::event &ev) { must_stop = true; });
 *     write_with_token(hold.fence());
 *     hold.release();
 *
 * A hold belongs to one object, which can be moved.  Its destructor releases
 * it, and tells nobody how that ended: release() does.
 */
#ifndef HOLDFAST_CPP_HOLD_HPP
#define HOLDFAST_CPP_HOLD_HPP

#include <map>
#include <mutex>

#include "client.hpp"

namespace holdfast
{

namespace detail
{

/* The functions of hold::on_state().  The library may still be in one after its
 * hold was released: it gets a number, and the function lives until it has
 * returned.  Never destroyed, for clients may outlive the program's statics. */
class watchers
{
  public:
    static watchers &all()
    {
        static watchers *const only = new watchers;
        return *only;
    }
    uintptr_t add(state_fn fn, exception_fn told)
    {
        auto one =
            std::make_shared<watcher>(watcher{std::move(fn), std::move(told)});
        std::lock_guard<std::mutex> guard(mutex_);
        map_[++last_] = std::move(one);
        return last_;
    }
    void remove(uintptr_t id)
    {
        std::shared_ptr<watcher> one;
        std::lock_guard<std::mutex> guard(mutex_);
        auto at = map_.find(id);
        if (at == map_.end()) return;
        one = std::move(at->second); /* destroyed when the mutex is free */
        map_.erase(at);
    }
    static void state_cb(hf_hold *, const hf_event *ev, void *user) noexcept
    {
        auto one = all().find(reinterpret_cast<uintptr_t>(user));
        if (one) run(one->told, [&] { one->fn(event(*ev)); });
    }

  private:
    struct watcher {
        state_fn fn;
        exception_fn told;
    };
    std::shared_ptr<watcher> find(uintptr_t id)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        auto at = map_.find(id);
        return at == map_.end() ? nullptr : at->second;
    }

    std::mutex mutex_;
    std::map<uintptr_t, std::shared_ptr<watcher>> map_;
    uintptr_t last_ = 0;
};

/* How long a hold is valid; the longest time if it has no end. */
inline std::chrono::milliseconds valid_for(const hf_hold *hold)
{
    return std::chrono::milliseconds(hf_hold_valid_ms(hold));
}

} // namespace detail

class hold
{
  public:
    /* Takes `raw`, a handle of the client's. */
    hold(detail::core_ptr core, hf_hold *raw)
        : core_(std::move(core)), raw_(raw)
    {
    }
    hold(hold &&from) noexcept
        : core_(std::move(from.core_)), raw_(std::exchange(from.raw_, nullptr)),
          watcher_(std::exchange(from.watcher_, 0))
    {
    }
    hold &operator=(hold &&from) noexcept
    {
        hold old(std::move(*this));
        core_ = std::move(from.core_);
        raw_ = std::exchange(from.raw_, nullptr);
        watcher_ = std::exchange(from.watcher_, 0);
        return *this;
    }
    ~hold()
    {
        if (raw_) static_cast<void>(try_release());
    }

    /* 0 if it has none: hf_hold_fence(). */
    uint64_t fence() const noexcept
    {
        return hf_hold_fence(raw_);
    }
    /* Check it before each protected write. */
    std::chrono::milliseconds valid_for() const noexcept
    {
        return detail::valid_for(raw_);
    }
    holdfast::state state() const noexcept
    {
        return static_cast<holdfast::state>(hf_hold_state(raw_));
    }
    /* Why it is not renewed, or was lost; "" if all is well. */
    std::string why() const
    {
        char text[HF_ERROR_TEXT_MAX];
        hf_hold_why(raw_, text);
        return text;
    }
    std::string name() const
    {
        return hf_hold_name(raw_);
    }
    /* Handles that share it; permits of a semaphore. */
    int64_t count() const noexcept
    {
        return hf_hold_count(raw_);
    }
    std::chrono::milliseconds lease() const noexcept
    {
        return std::chrono::milliseconds(hf_hold_lease_ms(raw_));
    }
    /* true if it excludes holders of this host only: HF_GUARANTEE_LOCAL. */
    bool is_local() const noexcept
    {
        return hf_hold_guarantee(raw_) == HF_GUARANTEE_LOCAL;
    }

    /* hf_hold_extend(); 0: the same length again. */
    result<void> try_extend(std::chrono::milliseconds lease = {})
    {
        hf_error err;
        int status = hf_hold_extend(raw_, lease.count(), &err);
        return detail::ended(status, hf_hold_name(raw_), err);
    }
    /* hf_hold_feed(), for a hold that was acquired with `feed`. */
    result<void> try_feed()
    {
        int status = hf_hold_feed(raw_);
        if (status == HF_OK) return {};
        return detail::failed(name(), status, hf_status_text(status));
    }
    /* hf_hold_release(): the hold is gone, whatever this returns. */
    result<void> try_release()
    {
        hf_error err;
        std::string where = name();
        int status = hf_hold_release(std::exchange(raw_, nullptr), &err);
        forget();
        core_.reset();
        return detail::ended(status, where, err);
    }
    /* Set the function that is told of changes of state; nullptr: none. */
    result<void> try_on_state(state_fn fn)
    {
        uintptr_t id = 0;
        if (fn && core_)
            id =
                detail::watchers::all().add(std::move(fn), core_->on_exception);
        hf_error err;
        int status =
            hf_hold_on_state(raw_, id ? detail::watchers::state_cb : nullptr,
                             reinterpret_cast<void *>(id), &err);
        if (status == HF_OK) std::swap(watcher_, id);
        detail::watchers::all().remove(id); /* the one that is replaced */
        return detail::ended(status, name(), err);
    }
    /* hf_hold_ticket(): the hold is gone if this succeeds. */
    result<std::string> try_ticket()
    {
        char ticket[HF_TICKET_MAX];
        hf_error err;
        if (hf_hold_ticket(raw_, ticket, sizeof ticket, &err) != HF_OK)
            return failure(name(), err);
        raw_ = nullptr;
        forget();
        core_.reset();
        return std::string(ticket);
    }
#if HOLDFAST_CPP_EXCEPTIONS
    void extend(std::chrono::milliseconds lease = {})
    {
        try_extend(lease).value();
    }
    void feed()
    {
        try_feed().value();
    }
    void release()
    {
        try_release().value();
    }
    void on_state(state_fn fn)
    {
        try_on_state(std::move(fn)).value();
    }
    std::string ticket()
    {
        return try_ticket().value();
    }
#endif

    /* nullptr after a release, a ticket or a move. */
    hf_hold *native_handle() const noexcept
    {
        return raw_;
    }

  private:
    void forget()
    {
        if (watcher_)
            detail::watchers::all().remove(std::exchange(watcher_, 0));
    }

    detail::core_ptr core_;
    hf_hold *raw_;
    uintptr_t watcher_ = 0;
};

} // namespace holdfast

#endif
