/*
 * holdfast/cpp/client.hpp: a connection to the store.
 *
 *     holdfast::client_options options;
 *     options.lease = std::chrono::seconds(10);
 *     options.on_state = [](const holdfast::event &ev) {
 *         if (ev.state() == holdfast::state::lost) stop_work();
 *     };
 *     holdfast::client client("redis://127.0.0.1", options);
 *
 * A client is a handle: copies are the same client.  It is closed when the last
 * copy and everything that was made from it, holds too, are gone.  So the last
 * of them must not be destroyed by one of its callbacks: hf_client_close().
 *
 * Callbacks run on the thread that pumps (client.h), and may make any call.  An
 * exception that a callback throws goes to `on_exception` of the options; if
 * there is none, the program ends, as with an exception of a std::thread.
 */
#ifndef HOLDFAST_CPP_CLIENT_HPP
#define HOLDFAST_CPP_CLIENT_HPP

#include <exception>
#include <functional>
#include <memory>

#include "result.hpp"

namespace holdfast
{

/* The state of a hold: enum hf_state. */
enum class state {
    none = HF_STATE_NONE,
    held = HF_STATE_HELD,
    at_risk = HF_STATE_AT_RISK,
    lost = HF_STATE_LOST
};

/* A change of state of one hold; valid during the callback. */
class event
{
  public:
    explicit event(const hf_event &ev) : ev_(&ev)
    {
    }
    std::string_view name() const noexcept
    {
        return std::string_view(ev_->name, ev_->name_len);
    }
    holdfast::state state() const noexcept
    {
        return static_cast<holdfast::state>(ev_->state);
    }
    /* The reason: a status, and in words. */
    int status() const noexcept
    {
        return ev_->status;
    }
    std::string_view text() const noexcept
    {
        return ev_->text;
    }
    uint64_t fence() const noexcept
    {
        return ev_->fence;
    }
    std::chrono::milliseconds valid_for() const noexcept
    {
        return std::chrono::milliseconds(ev_->valid_ms);
    }
    const hf_event &native() const noexcept
    {
        return *ev_;
    }

  private:
    const hf_event *ev_;
};

using state_fn = std::function<void(const event &)>;
using log_fn = std::function<void(int level, std::string_view line)>;
using exception_fn = std::function<void(std::exception_ptr)>;

/* How a client behaves: struct hf_client_options.  What is empty or zero is the
 * default; `more` has the fields that are not here. */
struct client_options {
    std::chrono::milliseconds lease{0};
    std::chrono::milliseconds timeout{0};
    std::chrono::milliseconds patience{0};
    std::string user;
    std::string password;
    std::string label;
    state_fn on_state;         /* receives every change of state */
    log_fn log;                /* must not call holdfast; client.h */
    exception_fn on_exception; /* receives what a callback throws */
    bool own_loop = false;     /* HF_CLIENT_OWN_LOOP */
    hf_client_options more = HF_CLIENT_OPTIONS_INIT;
};

namespace detail
{

/* Run a callback of the program; nothing that it throws leaves this. */
template <class Call> void run(const exception_fn &told, Call &&call) noexcept
{
#if HOLDFAST_CPP_EXCEPTIONS
    try {
        call();
    } catch (...) {
        if (!told) std::terminate();
        told(std::current_exception());
    }
#else
    static_cast<void>(told);
    call();
#endif
}

/* The client, and the functions that it calls. */
struct core {
    hf_client *raw = nullptr;
    state_fn on_state;
    log_fn log;
    exception_fn on_exception;

    core() = default;
    core(const core &) = delete;
    core &operator=(const core &) = delete;
    ~core()
    {
        hf_client_close(raw);
    }

    static void state_cb(const hf_event *ev, void *user) noexcept
    {
        core *c = static_cast<core *>(user);
        run(c->on_exception, [&] { c->on_state(event(*ev)); });
    }
    static void log_cb(int level, const char *line, void *user) noexcept
    {
        core *c = static_cast<core *>(user);
        run(c->on_exception, [&] { c->log(level, line); });
    }
};

using core_ptr = std::shared_ptr<core>;

/* An object of the library, with the client that it lives in. */
template <class T, void (*close)(T *)> class owned
{
  public:
    owned(core_ptr core, T *raw) : core_(std::move(core)), raw_(raw)
    {
    }
    owned(owned &&from) noexcept
        : core_(std::move(from.core_)), raw_(std::exchange(from.raw_, nullptr))
    {
    }
    owned &operator=(owned &&from) noexcept
    {
        std::swap(core_, from.core_);
        std::swap(raw_, from.raw_);
        return *this;
    }
    ~owned()
    {
        if (raw_) close(raw_);
    }
    T *get() const noexcept
    {
        return raw_;
    }
    const core_ptr &core_of() const noexcept
    {
        return core_;
    }

  private:
    core_ptr core_;
    T *raw_;
};

inline const char *or_null(const std::string &text)
{
    return text.empty() ? nullptr : text.c_str();
}

} // namespace detail

class client
{
  public:
    /* hf_client_open() */
    static result<client> try_open(std::string_view url = "file:",
                                   const client_options &options = {})
    {
        detail::c_text text(url);
        if (!text.fits())
            return detail::failed("", HF_INVALID, "url: contains a NUL");
        auto core = std::make_shared<detail::core>();
        core->on_state = options.on_state;
        core->log = options.log;
        core->on_exception = options.on_exception;
        hf_client_options raw = native_options(options, *core);
        hf_error err;
        if (hf_client_open(text.get(), &raw, &core->raw, &err) != HF_OK)
            return failure("", err);
        return client(std::move(core));
    }
#if HOLDFAST_CPP_EXCEPTIONS
    explicit client(std::string_view url = "file:",
                    const client_options &options = {})
        : client(try_open(url, options).value())
    {
    }
#endif

    /* The URL, without its password. */
    std::string_view url() const
    {
        return hf_client_url(core_->raw);
    }
    /* Does the store have all of these HF_CAP_* bits? */
    bool can(unsigned caps) const
    {
        return (hf_client_caps(core_->raw) & caps) == caps;
    }

    /* What the client has done: hf_client_stats(). */
    result<hf_stats> try_stats() const
    {
        hf_stats stats = HF_STATS_INIT;
        hf_error err;
        if (hf_client_stats(core_->raw, &stats, &err) != HF_OK)
            return failure("", err);
        return stats;
    }
#if HOLDFAST_CPP_EXCEPTIONS
    hf_stats stats() const
    {
        return try_stats().value();
    }
#endif

    /* Own-loop mode: hf_client_fd(), hf_client_process(). */
    int fd() const
    {
        return hf_client_fd(core_->raw);
    }
    result<void> try_process()
    {
        int status = hf_client_process(core_->raw);
        if (status == HF_OK) return {};
        return detail::failed("", status, hf_status_text(status));
    }

    /* For calls that have no form here.  Never close it. */
    hf_client *native_handle() const noexcept
    {
        return core_->raw;
    }
    const detail::core_ptr &core_of() const noexcept
    {
        return core_;
    }

  private:
    explicit client(detail::core_ptr core) : core_(std::move(core))
    {
    }
    static hf_client_options native_options(const client_options &from,
                                            detail::core &core)
    {
        hf_client_options raw = from.more;
        if (from.lease.count()) raw.lease_ms = from.lease.count();
        if (from.timeout.count()) raw.timeout_ms = from.timeout.count();
        if (from.patience.count()) raw.patience_ms = from.patience.count();
        if (!from.user.empty()) raw.user = from.user.c_str();
        if (!from.password.empty()) raw.password = from.password.c_str();
        if (!from.label.empty()) raw.label = from.label.c_str();
        if (from.own_loop) raw.flags |= HF_CLIENT_OWN_LOOP;
        if (core.on_state) {
            raw.on_state = detail::core::state_cb;
            raw.state_user = &core;
        }
        if (core.log) {
            raw.log = detail::core::log_cb;
            raw.log_user = &core;
        }
        return raw;
    }

    detail::core_ptr core_;
};

/* A token that ends waits: fire() from any thread or signal handler. */
class canceller
{
  public:
    static result<canceller> try_open(const client &client)
    {
        hf_cancel *raw;
        int status = hf_cancel_open(client.native_handle(), &raw);
        if (status != HF_OK)
            return detail::failed("", status, hf_status_text(status));
        return canceller(handle(client.core_of(), raw));
    }
#if HOLDFAST_CPP_EXCEPTIONS
    explicit canceller(const client &client)
        : canceller(try_open(client).value())
    {
    }
#endif
    void fire() noexcept
    {
        hf_cancel_fire(handle_.get());
    }
    void reset() noexcept
    {
        hf_cancel_reset(handle_.get());
    }
    hf_cancel *native_handle() const noexcept
    {
        return handle_.get();
    }

  private:
    using handle = detail::owned<hf_cancel, hf_cancel_close>;
    explicit canceller(handle from) : handle_(std::move(from))
    {
    }
    handle handle_;
};

} // namespace holdfast

#endif
