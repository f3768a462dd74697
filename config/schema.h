/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_CONFIG_SCHEMA_H
#define LAB_CONFIG_SCHEMA_H

/*
 * What a document may say, as a table. config_check walks a map against it once;
 * after that the getters below cannot fail, and the reader of a document has only
 * its own rules left to check.
 *
 *	static const struct config_key step_keys[] = {
 *		{"name", CONFIG_STRING, .required = true},
 *		{"argv", CONFIG_STRINGS, .required = true},
 *		{"timeout", CONFIG_DURATION},
 *		{NULL},
 *	};
 *	static const struct config_key root_keys[] = {
 *		{"steps", CONFIG_SEQ, .sub = step_keys},		a list of maps
 *		{"sysctl", CONFIG_MAP, .open = true, .element = CONFIG_STRING},
 *		{"presets", CONFIG_MAP, .open = true, .sub = preset_keys},
 *		{NULL},
 *	};
 */

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "config/doc.h"

enum config_type {
	CONFIG_ANY = 0,	 /* not looked at */
	CONFIG_STRING,	 /* any scalar that says something, quoted or not */
	CONFIG_INT,	 /* whole number, may be negative */
	CONFIG_UINT,	 /* whole number from 0 */
	CONFIG_NUMBER,	 /* decimal number */
	CONFIG_BOOL,	 /* true or false, nothing else */
	CONFIG_SIZE,	 /* "64 KiB": common/num.h */
	CONFIG_DURATION, /* "10 s": common/num.h */
	CONFIG_MAP,
	CONFIG_SEQ,
	CONFIG_STRINGS, /* a list of CONFIG_STRING; also written as one scalar */
};

struct config_key {
	const char *name; /* NULL ends a table */
	enum config_type type;
	bool required;
	/* MAP: its keys are free and each value is checked against element and sub. */
	bool open;
	/* The type of an open map's values or of a list's elements; ANY with sub means MAP. */
	enum config_type element;
	/* Keys of the MAP, or of each value of an open map or each element of a list. */
	const struct config_key *sub;
	/* Allowed texts of STRING, of each of STRINGS, of elements; NULL-terminated. */
	const char *const *choices;
	/* Bounds of UINT, SIZE (bytes) and DURATION (ms); max 0 means none. */
	uint64_t min;
	uint64_t max;
	/* STRING and STRINGS, SEQ, MAP: the empty text, list or map is allowed. */
	bool may_be_empty;
};

/*
 * Checks a map: unknown key (with the nearest known one), missing key, wrong type,
 * value out of its choices or bounds. The first one found in file order is err.
 */
int config_check(const struct config_node *map, const struct config_key *keys,
		 struct lab_error *err) LAB_MUST_CHECK;
/* The same for one value against one row; `what` names it in messages. */
int config_check_value(const struct config_node *node, const char *what,
		       const struct config_key *row, struct lab_error *err) LAB_MUST_CHECK;

/* Of a map that was checked; the fallback where the key is missing. */
const char *config_get_str(const struct config_node *map, const char *key, const char *fallback);
uint64_t config_get_u64(const struct config_node *map, const char *key, uint64_t fallback);
int64_t config_get_i64(const struct config_node *map, const char *key, int64_t fallback);
double config_get_number(const struct config_node *map, const char *key, double fallback);
bool config_get_bool(const struct config_node *map, const char *key, bool fallback);
uint64_t config_get_size(const struct config_node *map, const char *key, uint64_t fallback);
/* Milliseconds. */
uint64_t config_get_duration(const struct config_node *map, const char *key, uint64_t fallback);
/*
 * STRINGS as a list: how many, and the i-th (borrowed). One scalar counts as a list
 * of one; a missing key is an empty list.
 */
size_t config_strings_len(const struct config_node *map, const char *key);
const char *config_strings_at(const struct config_node *map, const char *key, size_t i);

#endif
