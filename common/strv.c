/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/strv.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/mem.h"

static void add_owned(struct lab_strv *v, char *s)
{
	if (v->n + 1 >= v->cap) {
		v->cap = v->cap ? v->cap * 2 : 8;
		v->items = lab_realloc(v->items, v->cap, sizeof(*v->items));
	}
	v->items[v->n++] = s;
	v->items[v->n] = NULL;
}

void lab_strv_add(struct lab_strv *v, const char *s)
{
	add_owned(v, lab_strdup(s));
}

void lab_strv_addf(struct lab_strv *v, const char *fmt, ...)
{
	char *s = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		abort();
	va_end(ap);
	add_owned(v, s);
}

void lab_strv_add_all(struct lab_strv *v, const char *const *list)
{
	for (; list && *list; list++)
		lab_strv_add(v, *list);
}

void lab_strv_split(struct lab_strv *v, const char *s, const char *seps)
{
	while (*s) {
		size_t len = strcspn(s, seps);

		if (len)
			add_owned(v, lab_strndup(s, len));
		s += len;
		if (*s)
			s++;
	}
}

bool lab_strv_has(const struct lab_strv *v, const char *s)
{
	for (size_t i = 0; i < v->n; i++) {
		if (!strcmp(v->items[i], s))
			return true;
	}
	return false;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void lab_strv_sort(struct lab_strv *v)
{
	if (v->n)
		qsort(v->items, v->n, sizeof(*v->items), compare);
}

char *lab_strv_join(const struct lab_strv *v, const char *sep)
{
	struct lab_buf buf = LAB_BUF_INIT;

	for (size_t i = 0; i < v->n; i++) {
		if (i)
			lab_buf_adds(&buf, sep);
		lab_buf_adds(&buf, v->items[i]);
	}
	return lab_buf_take(&buf);
}

void lab_strv_release(struct lab_strv *v)
{
	for (size_t i = 0; i < v->n; i++)
		free(v->items[i]);
	free(v->items);
	*v = (struct lab_strv)LAB_STRV_INIT;
}

bool lab_starts_with(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

bool lab_ends_with(const char *s, const char *suffix)
{
	size_t a = strlen(s), b = strlen(suffix);

	return a >= b && !strcmp(s + a - b, suffix);
}
