/*
 * holdfast/cpp/result.hpp: how calls of the C++ interface succeed or fail.
 *
 *     holdfast::result<holdfast::hold> got = nightly.try_acquire();
 *     if (!got && got.status() != HF_TAKEN)
 *         puts(got.text().c_str());
 *
 * A call has two forms.  The plain form returns what it gives, or throws
 * holdfast::error.  The form that begins with try_ throws nothing of ours, and
 * returns a result<>: what the call gives, or a failure.  Without exceptions
 * (-fno-exceptions) there are only the try_ forms.  The statuses are those of
 * status.h, and mean what the header of the C call says.
 */
#ifndef HOLDFAST_CPP_RESULT_HPP
#define HOLDFAST_CPP_RESULT_HPP

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

/* Some structs have the name of a call, which C++ compilers may warn of. */
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif
#include "../holdfast.h"
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#if defined(__cpp_exceptions)
#define HOLDFAST_CPP_EXCEPTIONS 1
#else
#define HOLDFAST_CPP_EXCEPTIONS 0
#endif

namespace holdfast
{

/* Why a call failed. */
class failure
{
  public:
    /* `where` is the name of the object that the call was made on, or "". */
    failure(std::string_view where, const hf_error &err)
        : where_(where), err_(err)
    {
    }

    /* enum hf_status, never HF_OK; and enum hf_advice. */
    int status() const noexcept
    {
        return err_.status;
    }
    int advice() const noexcept
    {
        return hf_status_advice(err_.status);
    }

    /* The other fields: a server's index, an errno. */
    const hf_error &details() const noexcept
    {
        return err_;
    }

    /* "nightly: held by another holder" */
    std::string text() const
    {
        return where_.empty() ? err_.text : where_ + ": " + err_.text;
    }

  private:
    std::string where_;
    hf_error err_;
};

#if HOLDFAST_CPP_EXCEPTIONS
/* What the plain forms throw.  what() is the text of the failure. */
class error : public std::runtime_error
{
  public:
    explicit error(const failure &why)
        : std::runtime_error(why.text()), status_(why.status()),
          details_(why.details())
    {
    }
    int status() const noexcept
    {
        return status_;
    }
    int advice() const noexcept
    {
        return hf_status_advice(status_);
    }
    const hf_error &details() const noexcept
    {
        return details_;
    }

  private:
    int status_;
    hf_error details_;
};
#endif

/* What a call gives, or why it failed.  `*r` and `r->` need a success, why() a
 * failure; value() throws the failure. */
template <class T> class [[nodiscard]] result
{
  public:
    result(T value) : either_(std::in_place_index<1>, std::move(value))
    {
    }
    result(failure why) : either_(std::in_place_index<0>, std::move(why))
    {
    }

    explicit operator bool() const noexcept
    {
        return either_.index() == 1;
    }
    int status() const noexcept
    {
        const failure *why = std::get_if<0>(&either_);
        return why ? why->status() : static_cast<int>(HF_OK);
    }
    const failure &why() const
    {
        return std::get<0>(either_);
    }
    /* The failure in words; "" after a success. */
    std::string text() const
    {
        const failure *why = std::get_if<0>(&either_);
        return why ? why->text() : std::string();
    }

    T &operator*() &
    {
        return std::get<1>(either_);
    }
    const T &operator*() const &
    {
        return std::get<1>(either_);
    }
    T &&operator*() &&
    {
        return std::get<1>(std::move(either_));
    }
    T *operator->()
    {
        return &std::get<1>(either_);
    }
    const T *operator->() const
    {
        return &std::get<1>(either_);
    }

#if HOLDFAST_CPP_EXCEPTIONS
    T value() &&
    {
        if (!*this) throw error(why());
        return std::get<1>(std::move(either_));
    }
    T &value() &
    {
        if (!*this) throw error(why());
        return std::get<1>(either_);
    }
#endif

  private:
    std::variant<failure, T> either_;
};

/* The same of a call that gives nothing. */
template <> class [[nodiscard]] result<void>
{
  public:
    result() = default;
    result(failure why) : why_(std::move(why))
    {
    }
    explicit operator bool() const noexcept
    {
        return !why_;
    }
    int status() const noexcept
    {
        return why_ ? why_->status() : static_cast<int>(HF_OK);
    }
    const failure &why() const
    {
        return why_.value();
    }
    std::string text() const
    {
        return why_ ? why_->text() : std::string();
    }
#if HOLDFAST_CPP_EXCEPTIONS
    void value() const
    {
        if (why_) throw error(*why_);
    }
#endif

  private:
    std::optional<failure> why_;
};

namespace detail
{

/* A failure that no call of the library has filled an error for. */
inline failure failed(std::string_view where, int status, std::string_view text)
{
    hf_error err = {};
    err.status = status;
    err.node = -1;
    text.copy(err.text, sizeof err.text - 1);
    return failure(where, err);
}

/* The end of a call that gives nothing. */
inline result<void> ended(int status, std::string_view where,
                          const hf_error &err)
{
    if (status == HF_OK) return result<void>();
    return failure(where, err);
}

/* A text that ends with a NUL, as the library takes it. */
class c_text
{
  public:
    explicit c_text(std::string_view text) : text_(text)
    {
    }
    /* One with a NUL inside would be another text to the library. */
    bool fits() const noexcept
    {
        return text_.find('\0') == std::string::npos;
    }
    const char *get() const noexcept
    {
        return text_.c_str();
    }
    failure refused() const
    {
        return failed(text_.c_str(), HF_INVALID, "name: contains a NUL");
    }

  private:
    std::string text_;
};

/* A duration in milliseconds, rounded up; none, which is "no limit", if it is
 * too long to be counted. */
template <class Rep, class Period>
std::optional<std::chrono::milliseconds> wait_of(
    const std::chrono::duration<Rep, Period> &time)
{
    const std::chrono::duration<double> century(3.2e9);
    if (std::chrono::duration<double>(time) > century) return std::nullopt;
    auto whole = std::chrono::ceil<std::chrono::milliseconds>(time);
    return whole.count() > 0 ? whole : std::chrono::milliseconds(0);
}

/* The two fields of the C options that say how long to wait. */
inline void wait_set(const std::optional<std::chrono::milliseconds> &wait,
                     uint32_t try_flag, uint32_t &flags, int64_t &wait_ms)
{
    if (wait && wait->count() == 0)
        flags |= try_flag;
    else
        wait_ms = wait ? static_cast<int64_t>(wait->count()) : 0;
}

} // namespace detail
} // namespace holdfast

#endif
