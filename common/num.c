/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/num.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit size_units[] = {
	{"", 1},
	{"B", 1},
	{"K", 1ULL << 10},
	{"KiB", 1ULL << 10},
	{"M", 1ULL << 20},
	{"MiB", 1ULL << 20},
	{"G", 1ULL << 30},
	{"GiB", 1ULL << 30},
	{"T", 1ULL << 40},
	{"TiB", 1ULL << 40},
	{"kB", 1000},
	{"MB", 1000 * 1000},
	{"GB", 1000ULL * 1000 * 1000},
	{"TB", 1000ULL * 1000 * 1000 * 1000},
	{NULL, 0},
};

static const struct unit time_units[] = {
	{"ms", 1}, {"s", 1000}, {"m", 60 * 1000}, {"min", 60 * 1000}, {"h", 3600 * 1000}, {NULL, 0},
};

static int digits(const char *s, uint64_t *ret_value, const char **ret_end)
{
	char *end;

	if (!isdigit((unsigned char)*s))
		return -1;
	errno = 0;
	*ret_value = strtoull(s, &end, 10);
	*ret_end = end;
	return errno ? -1 : 0;
}

int lab_parse_u64(const char *s, uint64_t *ret_value, struct lab_error *err)
{
	const char *end;
	uint64_t value;

	if (digits(s, &value, &end) < 0 || *end)
		return lab_error_set(err, LAB_ERR_INVALID, "'%s' is not a whole number", s);
	*ret_value = value;
	return 0;
}

int lab_parse_i64(const char *s, int64_t *ret_value, struct lab_error *err)
{
	const char *end;
	uint64_t value;
	int negative = *s == '-';

	if (digits(s + negative, &value, &end) < 0 || *end ||
	    value > (uint64_t)INT64_MAX + (uint64_t)negative)
		return lab_error_set(err, LAB_ERR_INVALID, "'%s' is not a whole number", s);
	*ret_value = negative ? (int64_t)(0 - value) : (int64_t)value;
	return 0;
}

int lab_parse_double(const char *s, double *ret_value, struct lab_error *err)
{
	static locale_t c_locale;
	char *end;
	double value;
	const char *first = s + (*s == '-' || *s == '+');

	if (!c_locale)
		c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!isdigit((unsigned char)*first) && !(*first == '.' && isdigit((unsigned char)first[1])))
		return lab_error_set(err, LAB_ERR_INVALID, "'%s' is not a number", s);
	value = strtod_l(s, &end, c_locale);
	if (*end || !isfinite(value) || strpbrk(s, "xX"))
		return lab_error_set(err, LAB_ERR_INVALID, "'%s' is not a number", s);
	*ret_value = value;
	return 0;
}

static int parse_with_unit(const char *s, const struct unit *units, uint64_t *ret_value)
{
	const char *end;
	uint64_t value;

	if (digits(s, &value, &end) < 0)
		return -1;
	while (*end == ' ')
		end++;
	for (; units->name; units++) {
		if (strcmp(end, units->name) != 0)
			continue;
		if (value > UINT64_MAX / units->factor)
			return -1;
		*ret_value = value * units->factor;
		return 0;
	}
	/* Zero needs no unit. */
	if (!*end && !value) {
		*ret_value = 0;
		return 0;
	}
	return -1;
}

int lab_parse_size(const char *s, uint64_t *ret_bytes, struct lab_error *err)
{
	if (parse_with_unit(s, size_units, ret_bytes) < 0)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "'%s' is not a size (write it as 512 MiB or 4 GiB)", s);
	return 0;
}

int lab_parse_duration(const char *s, uint64_t *ret_ms, struct lab_error *err)
{
	if (parse_with_unit(s, time_units, ret_ms) < 0)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "'%s' is not a duration (write it as 500 ms, 30 s or 5 m)", s);
	return 0;
}

const char *lab_format_size(uint64_t bytes, char *text, size_t size)
{
	static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double value = (double)bytes;
	size_t unit = 0;

	while (value >= 1024 && unit + 1 < sizeof(names) / sizeof(names[0])) {
		value /= 1024;
		unit++;
	}
	snprintf(text, size, unit && value < 100 ? "%.1f %s" : "%.0f %s", value, names[unit]);
	return text;
}

const char *lab_format_duration(uint64_t ms, char *text, size_t size)
{
	uint64_t s = (ms + 500) / 1000;

	if (ms < 10000)
		snprintf(text, size, "%.1f s", (double)ms / 1000);
	else if (s < 60)
		snprintf(text, size, "%" PRIu64 " s", s);
	else if (s < 3600)
		snprintf(text, size, "%" PRIu64 "m%02" PRIu64 "s", s / 60, s % 60);
	else
		snprintf(text, size, "%" PRIu64 "h%02" PRIu64 "m", s / 3600, s / 60 % 60);
	return text;
}
