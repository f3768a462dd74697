/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_COMMON_BUF_H
#define LAB_COMMON_BUF_H

/* A growable byte string. `data` is NULL or has a zero byte after `len` bytes. */

#include <stddef.h>

#include "common/cleanup.h"

struct lab_buf {
	char *data;
	size_t len;
	size_t cap;
};

#define LAB_BUF_INIT       \
	{                  \
		NULL, 0, 0 \
	}

void lab_buf_add(struct lab_buf *buf, const void *data, size_t len);
void lab_buf_adds(struct lab_buf *buf, const char *s);
void lab_buf_addc(struct lab_buf *buf, char c);
void lab_buf_addf(struct lab_buf *buf, const char *fmt, ...) LAB_PRINTF(2, 3);
/* Drops the first `len` bytes. */
void lab_buf_consume(struct lab_buf *buf, size_t len);
/* Hands the bytes over (never NULL; caller frees) and leaves an empty buffer. */
char *lab_buf_take(struct lab_buf *buf);
void lab_buf_release(struct lab_buf *buf);

static inline void lab_cleanup_buf(struct lab_buf *buf)
{
	lab_buf_release(buf);
}

#endif
