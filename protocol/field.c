/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "protocol/field.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/num.h"
#include "protocol/job.h"

static int bad(struct lab_error *err, const char *key, const char *what)
{
	return lab_error_set(err, LAB_ERR_INVALID, "field \"%s\" %s", key, what);
}

int field_str(const json_t *obj, const char *key, size_t min, size_t max, const char **ret,
	      struct lab_error *err)
{
	const json_t *value = json_object_get(obj, key);
	size_t len;

	if (!value)
		return bad(err, key, "is missing");
	if (!json_is_string(value))
		return bad(err, key, "is not a string");
	len = json_string_length(value);
	if (len < min)
		return bad(err, key, "is empty");
	if (len > max)
		return bad(err, key, "is too long");
	*ret = json_string_value(value);
	return 0;
}

int field_opt_str(const json_t *obj, const char *key, size_t max, const char **ret,
		  struct lab_error *err)
{
	const json_t *value = json_object_get(obj, key);

	if (!value || json_is_null(value)) {
		*ret = NULL;
		return 0;
	}
	return field_str(obj, key, 0, max, ret, err);
}

int field_int(const json_t *obj, const char *key, int64_t min, int64_t max, int64_t *ret,
	      struct lab_error *err)
{
	const json_t *value = json_object_get(obj, key);
	int64_t number;

	if (!value)
		return bad(err, key, "is missing");
	if (!json_is_integer(value))
		return bad(err, key, "is not an integer");
	number = json_integer_value(value);
	if (number < min || number > max)
		return bad(err, key, "is out of range");
	*ret = number;
	return 0;
}

int field_bool(const json_t *obj, const char *key, bool *ret, struct lab_error *err)
{
	const json_t *value = json_object_get(obj, key);

	if (!value)
		return bad(err, key, "is missing");
	if (!json_is_boolean(value))
		return bad(err, key, "is neither true nor false");
	*ret = json_is_true(value);
	return 0;
}

int field_array(const json_t *obj, const char *key, size_t max, const json_t **ret,
		struct lab_error *err)
{
	const json_t *value = json_object_get(obj, key);

	if (!value)
		return bad(err, key, "is missing");
	if (!json_is_array(value))
		return bad(err, key, "is not an array");
	if (json_array_size(value) > max)
		return bad(err, key, "has too many elements");
	*ret = value;
	return 0;
}

int field_object(const json_t *obj, const char *key, const json_t **ret, struct lab_error *err)
{
	const json_t *value = json_object_get(obj, key);

	if (!value)
		return bad(err, key, "is missing");
	if (!json_is_object(value))
		return bad(err, key, "is not an object");
	*ret = value;
	return 0;
}

int field_u64(const json_t *obj, const char *key, uint64_t *ret, struct lab_error *err)
{
	const char *text;

	if (field_str(obj, key, 1, 20, &text, err) < 0)
		return -1;
	if (lab_parse_u64(text, ret, NULL) < 0)
		return bad(err, key, "is not an unsigned number");
	return 0;
}

json_t *field_make_u64(uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return field_make_str(text);
}

json_t *field_make_str(const char *s)
{
	json_t *value = json_string(s);

	if (!value) {
		LAB_CLEANUP(free) char *plain = lab_strdup(s);

		for (char *p = plain; *p; p++) {
			if ((unsigned char)*p >= 0x80)
				*p = '?';
		}
		value = json_string(plain);
	}
	if (!value)
		abort();
	return value;
}

bool field_is_name(const char *s)
{
	size_t len = strlen(s);

	return len >= 1 && len <= JOB_NAME_MAX && s[0] != '.' && s[0] != '-' &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
		       len;
}
