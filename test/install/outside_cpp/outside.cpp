/*
 * outside.cpp: a stranger's program in C++, which knows only what is installed.
 */
#include <holdfast/holdfast.hpp>

int main()
{
    holdfast::client client("memory:");
    holdfast::mutex mutex(client, "outside");
    std::lock_guard guard(mutex);
    return mutex.fence() > 0 ? 0 : 1;
}
