/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/mem.h"

static void reserve(struct lab_buf *buf, size_t more)
{
	size_t need = buf->len + more + 1;

	if (need <= buf->cap)
		return;
	if (need < buf->cap * 2)
		need = buf->cap * 2;
	if (need < 64)
		need = 64;
	buf->data = lab_realloc(buf->data, need, 1);
	buf->cap = need;
}

void lab_buf_add(struct lab_buf *buf, const void *data, size_t len)
{
	reserve(buf, len);
	if (len)
		memcpy(buf->data + buf->len, data, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

void lab_buf_adds(struct lab_buf *buf, const char *s)
{
	lab_buf_add(buf, s, strlen(s));
}

void lab_buf_addc(struct lab_buf *buf, char c)
{
	lab_buf_add(buf, &c, 1);
}

void lab_buf_addf(struct lab_buf *buf, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	reserve(buf, (size_t)n);
	va_start(ap, fmt);
	vsnprintf(buf->data + buf->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	buf->len += (size_t)n;
}

void lab_buf_consume(struct lab_buf *buf, size_t len)
{
	if (len > buf->len)
		len = buf->len;
	if (!len)
		return;
	memmove(buf->data, buf->data + len, buf->len - len + 1);
	buf->len -= len;
}

char *lab_buf_take(struct lab_buf *buf)
{
	char *data;

	reserve(buf, 0);
	data = buf->data;
	data[buf->len] = '\0';
	*buf = (struct lab_buf)LAB_BUF_INIT;
	return data;
}

void lab_buf_release(struct lab_buf *buf)
{
	free(buf->data);
	*buf = (struct lab_buf)LAB_BUF_INIT;
}
