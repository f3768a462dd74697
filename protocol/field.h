/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_PROTOCOL_FIELD_H
#define LAB_PROTOCOL_FIELD_H

/* Strict reading of one field of a JSON object. Errors name the field. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "common/err.h"

/* A string of min..max bytes; borrowed. */
int field_str(const json_t *obj, const char *key, size_t min, size_t max, const char **ret,
	      struct lab_error *err) LAB_MUST_CHECK;
/* The same; a missing key or null gives NULL. */
int field_opt_str(const json_t *obj, const char *key, size_t max, const char **ret,
		  struct lab_error *err) LAB_MUST_CHECK;
int field_int(const json_t *obj, const char *key, int64_t min, int64_t max, int64_t *ret,
	      struct lab_error *err) LAB_MUST_CHECK;
int field_bool(const json_t *obj, const char *key, bool *ret, struct lab_error *err) LAB_MUST_CHECK;
/* An array of at most max elements; borrowed. */
int field_array(const json_t *obj, const char *key, size_t max, const json_t **ret,
		struct lab_error *err) LAB_MUST_CHECK;
int field_object(const json_t *obj, const char *key, const json_t **ret,
		 struct lab_error *err) LAB_MUST_CHECK;

/* An unsigned 64-bit number, as decimal text since JSON integers here have a sign. */
int field_u64(const json_t *obj, const char *key, uint64_t *ret,
	      struct lab_error *err) LAB_MUST_CHECK;
json_t *field_make_u64(uint64_t value);

/* A string value; bytes that are not UTF-8 become '?'. */
json_t *field_make_str(const char *s);

/* True for names of phases, steps, series: [A-Za-z0-9._-], 1 to JOB_NAME_MAX bytes; no '.' or '-' in front. */
bool field_is_name(const char *s);

#endif
