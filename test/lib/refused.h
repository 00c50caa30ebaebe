/*
 * refused.h: URLs that will not do.
 */
#ifndef HF_TEST_REFUSED_H
#define HF_TEST_REFUSED_H

/* A try at this URL ends with this status, and a text with this in it. */
void url_is_refused(const char *url, int status, const char *words);

/* This URL is not opened: HF_INVALID, with this in the text. */
void url_is_bad(const char *url, const char *words);

#endif
