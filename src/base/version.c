/*
 * version.c: which holdfast this is.  One rule: the numbers come from
 * version.h, as they were when the library was built.
 */
#include "holdfast/version.h"

const char *hf_version(void)
{
    return HF_VERSION;
}

int hf_version_num(void)
{
    return HF_VERSION_NUM;
}
