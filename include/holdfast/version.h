/*
 * holdfast/version.h: the version of the header and of the library.
 *
 *     if (hf_version_num() < HF_VERSION_NUM)
 *         printf("compiled for %s, running %s\n", HF_VERSION, hf_version());
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
