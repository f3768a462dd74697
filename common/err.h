/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_COMMON_ERR_H
#define LAB_COMMON_ERR_H

#include "common/cleanup.h"

/*
 * What went wrong, in one line for a person. Fallible functions return 0 or -1,
 * take `struct lab_error *err` last, set it exactly once on failure and leave it
 * alone on success. It owns nothing, so it needs no release. A NULL err is allowed
 * where the caller does not care for the words.
 */

/* What kind of failure it is, for callers that act on it. */
enum lab_error_kind {
	LAB_ERR_NONE = 0,
	LAB_ERR_FAILED,	     /* anything without a better name */
	LAB_ERR_USAGE,	     /* the caller's words are off: exit code 2 */
	LAB_ERR_NOT_FOUND,   /* the thing named does not exist */
	LAB_ERR_BUSY,	     /* someone else holds it */
	LAB_ERR_CANCELLED,   /* stopped by the user */
	LAB_ERR_TIMEOUT,     /* a deadline passed */
	LAB_ERR_INVALID,     /* input that does not mean anything */
	LAB_ERR_UNAVAILABLE, /* this host cannot do it */
};

#define LAB_ERROR_TEXT 2000 /* bytes, with the NUL */

struct lab_error {
	enum lab_error_kind kind;
	int errnum; /* errno of the cause, or 0 */
	char text[LAB_ERROR_TEXT];
};

/* Sets err's kind and text; no errno is involved. Returns -1. */
int lab_error_set(struct lab_error *err, enum lab_error_kind kind, const char *fmt, ...)
	LAB_PRINTF(3, 4);

/* Sets err to LAB_ERR_FAILED (or NOT_FOUND for ENOENT) and appends ": strerror(errnum)". Returns -1. */
int lab_error_errno(struct lab_error *err, int errnum, const char *fmt, ...) LAB_PRINTF(3, 4);

/* Puts "fmt: " in front of err's text. Returns -1. */
int lab_error_wrap(struct lab_error *err, const char *fmt, ...) LAB_PRINTF(2, 3);

#ifdef __clang_analyzer__
/* The analyser looks at one file at a time; "always -1" is what it must know about these. */
#define lab_error_set(...) (lab_error_set(__VA_ARGS__), -1)
#define lab_error_errno(...) (lab_error_errno(__VA_ARGS__), -1)
#define lab_error_wrap(...) (lab_error_wrap(__VA_ARGS__), -1)
#endif

#endif
