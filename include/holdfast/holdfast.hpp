/*
 * holdfast/holdfast.hpp: distributed locks from C++17; includes all headers of
 * holdfast/cpp/, which are all that there is of it.
 *
 *     holdfast::client client("redis://127.0.0.1");
 *     holdfast::mutex nightly(client, "nightly");
 *     std::lock_guard guard(nightly);
 *     write_with_token(nightly.fence());
 *
 * It is a layer over the C calls, which keep their meaning: the limits at the
 * top of holdfast.h hold here too.
 */
#ifndef HOLDFAST_HPP
#define HOLDFAST_HPP

#include "cpp/result.hpp"
#include "cpp/client.hpp"
#include "cpp/hold.hpp"
#include "cpp/lock.hpp"
#include "cpp/mutex.hpp"
#include "cpp/semaphore.hpp"
#include "cpp/latch.hpp"
#include "cpp/election.hpp"
#include "cpp/value.hpp"

#endif
