#ifndef HOLDFAST_VERSION_H
#define HOLDFAST_VERSION_H 
#include "status.h"
#ifdef __cplusplus
extern "C" {
#endif
#define HF_VERSION_MAJOR 0
#define HF_VERSION_MINOR 1
#define HF_VERSION_PATCH 0
#define HF_VERSION "0.1.0"
#define HF_VERSION_NUM \
    (HF_VERSION_MAJOR * 10000 + HF_VERSION_MINOR * 100 + HF_VERSION_PATCH)
#define HF_HAS(ptr,field) \
    ((const char *)(ptr) + (ptr)->struct_size \
     >= (const char *)(&(ptr)->field + 1))
HF_API const char *hf_version(void);
HF_API int hf_version_num(void);
#ifdef __cplusplus
}
#endif
#endif
