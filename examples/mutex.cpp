/*
 * mutex.cpp: threads, and other processes, that take turns under one lock by
 * std::unique_lock.  Each turn has a higher fence.
 *
 *     ./mutex [URL [STEPS]]
 */
#include <holdfast/holdfast.hpp>

#include <atomic>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>

using namespace std::chrono_literals;

int main(int argc, char **argv)
try {
    std::atomic<bool> must_stop{false}; /* set on the client's thread */
    holdfast::client_options options;
    options.on_state = [&](const holdfast::event &ev) {
        if (ev.state() == holdfast::state::lost) must_stop = true;
    };
    holdfast::client client(argc > 1 ? argv[1] : "file:", options);
    holdfast::mutex turns(client, "turns");
    const int each = argc > 2 ? std::stoi(argv[2]) : 10;
    int steps = 0;
    uint64_t fence = 0;
    auto work = [&] {
        for (int i = 0; i < each && !must_stop; i++) {
            std::unique_lock guard(turns, 60s);
            if (!guard || turns.valid_for() < 200ms) return;
            if (turns.fence() <= fence) return; /* what a resource would do */
            fence = turns.fence();
            steps++;
        }
    };
    /* An exception in a thread would end the program: catch it there. */
    auto careful = [&] {
        try {
            work();
        } catch (const holdfast::error &e) {
            std::cerr << "mutex: " << e.what() << "\n";
        }
    };
    std::thread other(careful);
    careful();
    other.join();
    std::cout << steps << " steps, fence " << fence << "\n";
    return steps == 2 * each ? 0 : 1;
} catch (const std::exception &e) {
    std::cerr << "mutex: " << e.what() << "\n";
    return 1;
}
