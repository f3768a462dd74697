/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *check(void *p)
{
	if (!p)
		abort();
	return p;
}

void *lab_calloc(size_t n, size_t size)
{
	return check(calloc(n ? n : 1, size ? size : 1));
}

void *lab_realloc(void *p, size_t n, size_t size)
{
	return check(reallocarray(p, n ? n : 1, size ? size : 1));
}

char *lab_strdup(const char *s)
{
	return s ? check(strdup(s)) : NULL;
}

char *lab_strndup(const char *s, size_t len)
{
	return check(strndup(s, len));
}

void *lab_memdup(const void *p, size_t len)
{
	char *copy = lab_calloc(len + 1, 1);

	if (len)
		memcpy(copy, p, len);
	return copy;
}

char *lab_asprintf(const char *fmt, ...)
{
	char *s = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	return check(n < 0 ? NULL : s);
}
