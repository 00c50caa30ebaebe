/*
 * holdfast/version.h: the version of the header and of the library.
 *
 *     if (hf_version_num() < HF_VERSION_NUM)
 *         printf("compiled for %s, running %s\n", HF_VERSION, hf_version());
 *
 * How structs grow.  A struct begins with struct_size, and a later version adds
 * fields at its end only.
 *   - The program sets struct_size of what it allocates with the INIT macro, or
 *     the function of the same name (HF_INFO_INIT, hf_info_init()), which set
 *     all other fields to zero.  Without it, calls return HF_INVALID.
 *   - A program that was compiled for an older version runs on a newer library:
 *     the library reads and writes the program's fields only.  A field of the
 *     options that the program does not have is zero, the default.
 *   - A program that was compiled for a newer version runs on an older library
 *     while it leaves the newer fields of the options zero.  A call with an
 *     option that the library does not know returns HF_INVALID, and nothing is
 *     sent.
 *   - A call that fills a struct zeroes the fields that the library does not
 *     know, and sets struct_size to what both sides know.  HF_HAS() tells
 *     whether a field is there; it also works on the structs that callbacks
 *     receive.
 *   - struct hf_error and struct hf_allocator do not grow.
 */
#ifndef HOLDFAST_VERSION_H
#define HOLDFAST_VERSION_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version that the program is compiled against. */
#define HF_VERSION_MAJOR 0
#define HF_VERSION_MINOR 1
#define HF_VERSION_PATCH 0
#define HF_VERSION "0.1.0"
#define HF_VERSION_NUM                                                         \
    (HF_VERSION_MAJOR * 10000 + HF_VERSION_MINOR * 100 + HF_VERSION_PATCH)

/* Whether a struct that the library has filled, or passed to a callback, has
 * the field: HF_HAS(info, available). */
#define HF_HAS(ptr, field)                                                     \
    ((const char *)(ptr) + (ptr)->struct_size                                  \
     >= (const char *)(&(ptr)->field + 1))

/**
 * Return the version of the library at run time, as text.
 *
 * @return a constant string, borrowed: "0.1.0"
 *
 * Threads: any.
 */
HF_API const char *hf_version(void);

/**
 * Return the version of the library at run time, as a number to compare with
 * HF_VERSION_NUM.
 *
 * @return major * 10000 + minor * 100 + patch
 *
 * Threads: any.
 */
HF_API int hf_version_num(void);

#ifdef __cplusplus
}
#endif
#endif
