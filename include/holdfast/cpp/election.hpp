/*
 * holdfast/cpp/election.hpp: elect one of several candidates as the leader.
 *
 *     holdfast::election scheduler(client, "scheduler");
 *     holdfast::campaign_options options;
 *     options.value = "10.0.0.5:8080";
 *     scheduler.campaign(options);
 *     write_with_token(scheduler.fence());
 *
 * An object is one candidate; its destructor resigns.  election.h says what
 * each status means.
 */
#ifndef HOLDFAST_CPP_ELECTION_HPP
#define HOLDFAST_CPP_ELECTION_HPP

#include "lock.hpp"

namespace holdfast
{

/* How to campaign: struct hf_campaign_options. */
struct campaign_options {
    /* None: no limit.  0: try once, and HF_TAKEN if there is a leader. */
    std::optional<std::chrono::milliseconds> wait;
    std::optional<std::string> value; /* published when elected */
    const canceller *cancel = nullptr;
};

/* The leader of an election. */
struct leader {
    hf_leader info = HF_LEADER_INIT;  /* its `data` is in `value` */
    std::optional<std::string> value; /* what it has published */

    bool is_led() const noexcept
    {
        return info.is_led != 0;
    }
    bool is_me() const noexcept
    {
        return info.is_me != 0;
    }
};

class election
{
  public:
    /* A lease of 0 is the client's. */
    static result<election> try_open(const client &client,
                                     std::string_view name,
                                     std::chrono::milliseconds lease = {},
                                     order by = order::any)
    {
        detail::c_text text(name);
        if (!text.fits()) return text.refused();
        hf_election_options options = HF_ELECTION_OPTIONS_INIT;
        options.lease_ms = lease.count();
        options.order = static_cast<int32_t>(by);
        hf_error err;
        hf_election *raw;
        if (hf_election_open(client.native_handle(), text.get(), &options, &raw,
                             &err)
            != HF_OK)
            return failure(name, err);
        return election(handle(client.core_of(), raw), name);
    }

    /* Wait until this candidate is the leader. */
    result<void> try_campaign(const campaign_options &options = {})
    {
        hf_campaign_options raw = HF_CAMPAIGN_OPTIONS_INIT;
        detail::wait_set(options.wait, HF_CAMPAIGN_TRY, raw.flags, raw.wait_ms);
        if (options.cancel) raw.cancel = options.cancel->native_handle();
        if (options.value) {
            raw.value = options.value->data();
            raw.value_len = options.value->size();
        }
        hf_error err;
        int status = hf_election_campaign(handle_.get(), &raw, nullptr, &err);
        return detail::ended(status, name_, err);
    }
    result<void> try_resign()
    {
        hf_error err;
        int status = hf_election_resign(handle_.get(), &err);
        return detail::ended(status, name_, err);
    }
    /* Replace the published value. */
    result<void> try_publish(std::string_view value)
    {
        hf_error err;
        int status = hf_election_publish(handle_.get(), value.data(),
                                         value.size(), &err);
        return detail::ended(status, name_, err);
    }
    result<leader> try_look()
    {
        leader out;
        hf_error err;
        int status = hf_election_look(handle_.get(), &out.info, &err);
        return seen(status, std::move(out), err);
    }
    /* Wait until the leader or its value is another than `known`. */
    result<leader> try_await(
        const leader &known,
        std::optional<std::chrono::milliseconds> wait = std::nullopt)
    {
        hf_await_options raw = HF_AWAIT_OPTIONS_INIT;
        detail::wait_set(wait, HF_AWAIT_TRY, raw.flags, raw.wait_ms);
        leader out;
        hf_error err;
        int status = hf_election_await(handle_.get(), &known.info, &raw,
                                       &out.info, &err);
        return seen(status, std::move(out), err);
    }
#if HOLDFAST_CPP_EXCEPTIONS
    election(const client &client, std::string_view name,
             std::chrono::milliseconds lease = {}, order by = order::any)
        : election(try_open(client, name, lease, by).value())
    {
    }
    void campaign(const campaign_options &options = {})
    {
        try_campaign(options).value();
    }
    void resign()
    {
        try_resign().value();
    }
    void publish(std::string_view value)
    {
        try_publish(value).value();
    }
    leader look()
    {
        return try_look().value();
    }
    leader await(const leader &known,
                 std::optional<std::chrono::milliseconds> wait = std::nullopt)
    {
        return try_await(known, wait).value();
    }
#endif

    /* Of the leadership: 0, 0 ms and none if it was not won. */
    uint64_t fence() const
    {
        return hf_hold_fence(hf_election_hold(handle_.get()));
    }
    std::chrono::milliseconds valid_for() const
    {
        return detail::valid_for(hf_election_hold(handle_.get()));
    }
    holdfast::state state() const
    {
        return static_cast<holdfast::state>(
            hf_hold_state(hf_election_hold(handle_.get())));
    }
    std::string_view name() const noexcept
    {
        return name_;
    }
    hf_election *native_handle() const noexcept
    {
        return handle_.get();
    }

  private:
    using handle = detail::owned<hf_election, hf_election_close>;
    election(handle from, std::string_view name)
        : handle_(std::move(from)), name_(name)
    {
    }
    result<leader> seen(int status, leader out, const hf_error &err)
    {
        if (status != HF_OK) return failure(name_, err);
        if (out.info.data) out.value.emplace(out.info.data, out.info.len);
        hf_leader_free(handle_.get(), &out.info);
        return out;
    }
    handle handle_;
    std::string name_;
};

} // namespace holdfast

#endif
