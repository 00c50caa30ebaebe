/*
 * play/clock_shim.h: the library of lab/clock_shim.c as bytes, which the build
 * makes of it: a server whose clock is to jump preloads it from a file.
 */
#ifndef HOLDFAST_CLI_PLAY_CLOCK_SHIM_H
#define HOLDFAST_CLI_PLAY_CLOCK_SHIM_H

#include <stddef.h>

extern const size_t clock_shim_len;
extern const unsigned char clock_shim[];

#endif
