/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* For the analyser these are macros, too. */
#undef lab_error_set
#undef lab_error_errno
#undef lab_error_wrap

/* Messages are one line: what a library hands us with line ends in it is flattened. */
static void flatten(char *text)
{
	size_t len = strlen(text);

	while (len && (text[len - 1] == '\n' || text[len - 1] == ' ' || text[len - 1] == '\r'))
		text[--len] = '\0';
	for (; *text; text++) {
		if (*text == '\n' || *text == '\r')
			*text = ' ';
	}
}

int lab_error_set(struct lab_error *err, enum lab_error_kind kind, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return -1;
	err->kind = kind;
	err->errnum = 0;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	flatten(err->text);
	return -1;
}

int lab_error_errno(struct lab_error *err, int errnum, const char *fmt, ...)
{
	va_list ap;
	size_t len;

	if (!err)
		return -1;
	err->kind = errnum == ENOENT ? LAB_ERR_NOT_FOUND : LAB_ERR_FAILED;
	err->errnum = errnum;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	len = strlen(err->text);
	/* A zero errno would print "Success", which no failure is. */
	snprintf(err->text + len, sizeof(err->text) - len, ": %s",
		 errnum ? strerror(errnum) : "unknown error");
	flatten(err->text);
	return -1;
}

int lab_error_wrap(struct lab_error *err, const char *fmt, ...)
{
	char old[LAB_ERROR_TEXT];
	va_list ap;
	size_t len;

	if (!err)
		return -1;
	memcpy(old, err->text, sizeof(old));
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	len = strlen(err->text);
	snprintf(err->text + len, sizeof(err->text) - len, ": %s", old);
	flatten(err->text);
	return -1;
}
