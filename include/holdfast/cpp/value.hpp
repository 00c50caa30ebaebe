/*
 * holdfast/cpp/value.hpp: a value with a version, for optimistic locking.
 *
 *     holdfast::value visits(client, "visits");
 *     visits.update([](const holdfast::versioned &now) {
 *         return std::to_string(now.data ? std::stol(*now.data) + 1 : 1);
 *     });
 *
 * value.h says what a version is, and what each status means.
 */
#ifndef HOLDFAST_CPP_VALUE_HPP
#define HOLDFAST_CPP_VALUE_HPP

#include "client.hpp"

namespace holdfast
{

/* A value that was read. */
struct versioned {
    uint64_t version = 0; /* 0 if there is no value */
    std::optional<std::string> data;
    /* None if it does not expire. */
    std::optional<std::chrono::milliseconds> ttl;
};

/* Computes the next value from the current one; may run several times.  None
 * deletes the value. */
using update_fn = std::function<std::optional<std::string>(const versioned &)>;

class value
{
  public:
    /* Sends nothing. */
    value(const client &client, std::string_view key)
        : core_(client.core_of()), key_(key)
    {
    }

    result<versioned> try_read()
    {
        hf_value raw = HF_VALUE_INIT;
        hf_error err;
        if (!key_.fits()) return key_.refused();
        if (hf_value_read(core_->raw, key_.get(), &raw, &err) != HF_OK)
            return failure(key_.get(), err);
        versioned out = of(raw);
        hf_value_free(core_->raw, &raw);
        return out;
    }
    /* Write if the version is still this one; gives the new one.  0: only if
     * there is no value; HF_VALUE_ANY: in any case.  A ttl of 0: for ever. */
    result<uint64_t> try_write(std::string_view data, uint64_t version,
                               std::chrono::milliseconds ttl = {})
    {
        uint64_t written;
        hf_error err;
        if (!key_.fits()) return key_.refused();
        if (hf_value_write(core_->raw, key_.get(), version, data.data(),
                           data.size(), ttl.count(), &written, &err)
            != HF_OK)
            return failure(key_.get(), err);
        return written;
    }
    result<void> try_remove(uint64_t version)
    {
        hf_error err;
        if (!key_.fits()) return key_.refused();
        int status = hf_value_delete(core_->raw, key_.get(), version, &err);
        return detail::ended(status, key_.get(), err);
    }
    /* Read, compute and write until no other client is faster; gives the new
     * version, 0 after a deletion.  An exception of `fn` ends it, and is thrown
     * from here, by this form too: it is the program's own. */
    result<uint64_t> try_update(const update_fn &fn)
    {
        updating call{&fn, {}, {}};
        uint64_t written = 0;
        hf_error err;
        if (!key_.fits()) return key_.refused();
        int status = hf_value_update(core_->raw, key_.get(), updating::next_cb,
                                     &call, nullptr, &written, &err);
#if HOLDFAST_CPP_EXCEPTIONS
        if (call.thrown) std::rethrow_exception(call.thrown);
#endif
        if (status != HF_OK) return failure(key_.get(), err);
        return written;
    }
#if HOLDFAST_CPP_EXCEPTIONS
    versioned read()
    {
        return try_read().value();
    }
    uint64_t write(std::string_view data, uint64_t version,
                   std::chrono::milliseconds ttl = {})
    {
        return try_write(data, version, ttl).value();
    }
    void remove(uint64_t version)
    {
        try_remove(version).value();
    }
    uint64_t update(const update_fn &fn)
    {
        return try_update(fn).value();
    }
#endif

  private:
    static versioned of(const hf_value &raw)
    {
        versioned out;
        out.version = raw.version;
        if (raw.data) out.data.emplace(raw.data, raw.len);
        if (raw.ttl_ms >= 0) out.ttl = std::chrono::milliseconds(raw.ttl_ms);
        return out;
    }
    /* One call of hf_value_update(). */
    struct updating {
        const update_fn *fn;
        std::optional<std::string> next;
        std::exception_ptr thrown;

        static int next_cb(const hf_value *now, hf_value_next *out,
                           void *user) noexcept
        {
            updating *self = static_cast<updating *>(user);
            const exception_fn keep = [self](std::exception_ptr thrown) {
                self->thrown = std::move(thrown);
            };
            detail::run(keep, [&] { self->next = (*self->fn)(of(*now)); });
            if (self->thrown) return 1;
            out->remove = !self->next;
            if (self->next) {
                out->data = self->next->data();
                out->len = self->next->size();
            }
            return 0;
        }
    };
    detail::core_ptr core_;
    detail::c_text key_;
};

} // namespace holdfast

#endif
