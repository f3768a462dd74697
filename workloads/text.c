/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workloads/text.h"

#include <string.h>

#include "common/mem.h"
#include "common/num.h"

bool text_next_line(const char **text, size_t *len, struct text_line *ret_line)
{
	const char *end;

	if (!*len)
		return false;
	end = memchr(*text, '\n', *len);
	ret_line->s = *text;
	ret_line->whole = end != NULL;
	ret_line->len = end ? (size_t)(end - *text) : *len;
	*len -= ret_line->len + (end ? 1 : 0);
	*text += ret_line->len + (end ? 1 : 0);
	if (end && ret_line->len && ret_line->s[ret_line->len - 1] == '\r')
		ret_line->len--;
	return true;
}

bool text_line_starts(const struct text_line *line, const char *prefix)
{
	size_t n = strlen(prefix);

	return line->len >= n && memcmp(line->s, prefix, n) == 0;
}

bool text_line_blank(const struct text_line *line)
{
	for (size_t i = 0; i < line->len; i++)
		if (line->s[i] != ' ' && line->s[i] != '\t')
			return false;
	return true;
}

static bool is_plain_number(const char *s, size_t len)
{
	size_t points = 0, digits = 0;

	for (size_t i = 0; i < len; i++) {
		if (s[i] == '.')
			points++;
		else if (s[i] >= '0' && s[i] <= '9')
			digits++;
		else
			return false;
	}
	return digits && points <= 1 && s[0] != '.' && s[len - 1] != '.';
}

int text_positive(const char *s, size_t len, const char *what, double *ret_value,
		  struct lab_error *err)
{
	char excerpt[40], number[32];
	double value;

	text_excerpt(s, len, excerpt, sizeof(excerpt));
	if (!len || len >= sizeof(number) || !is_plain_number(s, len))
		return lab_error_set(err, LAB_ERR_INVALID, "%s is no number: '%s'", what, excerpt);
	memcpy(number, s, len);
	number[len] = 0;
	if (lab_parse_double(number, &value, err))
		return lab_error_wrap(err, "%s", what);
	if (value <= 0)
		return lab_error_set(err, LAB_ERR_INVALID, "%s is zero: '%s'", what, excerpt);
	*ret_value = value;
	return 0;
}

const char *text_excerpt(const char *s, size_t len, char *buf, size_t size)
{
	size_t n = len < size - 1 ? len : size - 1;

	for (size_t i = 0; i < n; i++)
		buf[i] = s[i] >= ' ' && s[i] <= '~' ? s[i] : '?';
	buf[n] = 0;
	return buf;
}

void text_note(struct lab_strv *notes, const struct text_line *line)
{
	char excerpt[160];

	if (notes->n < TEXT_NOTES_MAX)
		lab_strv_add(notes, text_excerpt(line->s, line->len, excerpt, sizeof(excerpt)));
}
