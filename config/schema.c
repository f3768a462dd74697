/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config/schema.h"

#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/nearest.h"
#include "common/num.h"

static const char *type_words(enum config_type type)
{
	switch (type) {
	case CONFIG_STRING:
		return "a text";
	case CONFIG_INT:
		return "a whole number";
	case CONFIG_UINT:
		return "a whole number, 0 or more";
	case CONFIG_NUMBER:
		return "a number";
	case CONFIG_BOOL:
		return "true or false";
	case CONFIG_SIZE:
		return "a size such as 64 KiB or 2 GiB";
	case CONFIG_DURATION:
		return "a duration such as 250ms, 10 s or 5m";
	case CONFIG_MAP:
		return "a map";
	case CONFIG_SEQ:
		return "a list";
	case CONFIG_STRINGS:
		return "a list of texts";
	case CONFIG_ANY:
		break;
	}
	return "a value";
}

static int wrong_type(const struct config_node *node, const char *what, enum config_type type,
		      struct lab_error *err)
{
	const char *text = config_str(node);

	if (!text)
		return config_error(node, err, "%s must be %s, not %s", what, type_words(type),
				    config_node_describe(node));
	if (config_is_null(node))
		return config_error(node, err, "%s has no value; it must be %s", what,
				    type_words(type));
	if (!config_is_plain(node) && type != CONFIG_MAP && type != CONFIG_SEQ)
		return config_error(node, err, "%s must be %s, without quotes", what,
				    type_words(type));
	return config_error(node, err, "%s must be %s, not '%s'", what, type_words(type), text);
}

static void add_words(struct lab_buf *buf, const char *const *words)
{
	for (size_t i = 0; words[i]; i++)
		lab_buf_addf(buf, "%s%s", i ? ", " : "", words[i]);
}

static int check_choice(const struct config_node *node, const char *what,
			const char *const *choices, struct lab_error *err)
{
	struct lab_nearest nearest = {.word = config_str(node)};
	LAB_CLEANUP(buf) struct lab_buf all = LAB_BUF_INIT;

	for (size_t i = 0; choices[i]; i++) {
		if (strcmp(config_str(node), choices[i]) == 0)
			return 0;
		lab_nearest_consider(&nearest, choices[i]);
	}
	if (nearest.best)
		return config_error(node, err, "%s cannot be '%s'; did you mean '%s'?", what,
				    config_str(node), nearest.best);
	add_words(&all, choices);
	return config_error(node, err, "%s cannot be '%s', only one of: %s", what, config_str(node),
			    all.data ? all.data : "");
}

static int check_string(const struct config_node *node, const char *what,
			const struct config_key *row, enum config_type type, struct lab_error *err)
{
	if (!config_str(node) || config_is_null(node))
		return wrong_type(node, what, type, err);
	if (!*config_str(node) && !row->may_be_empty)
		return config_error(node, err, "%s is empty", what);
	return row->choices ? check_choice(node, what, row->choices, err) : 0;
}

static int check_bounds(const struct config_node *node, const char *what,
			const struct config_key *row, uint64_t value, struct lab_error *err)
{
	char bound[24];
	uint64_t limit = value < row->min ? row->min : row->max;

	if (value >= row->min && (!row->max || value <= row->max))
		return 0;
	if (row->type == CONFIG_SIZE)
		lab_format_size(limit, bound, sizeof(bound));
	else if (row->type == CONFIG_DURATION)
		lab_format_duration(limit, bound, sizeof(bound));
	else
		snprintf(bound, sizeof(bound), "%llu", (unsigned long long)limit);
	return config_error(node, err, "%s must be %s %s, not %s", what,
			    value < row->min ? "at least" : "at most", bound, config_str(node));
}

/* Numbers, sizes, durations and truth values: a plain scalar that one parser accepts. */
static int check_plain(const struct config_node *node, const char *what,
		       const struct config_key *row, struct lab_error *err)
{
	const char *text = config_str(node);
	bool good = text && !config_is_null(node);
	uint64_t u = row->min;
	int64_t i;
	double d;

	/* Sizes and durations may be quoted: "64 KiB" often is. */
	if (good && row->type != CONFIG_SIZE && row->type != CONFIG_DURATION)
		good = config_is_plain(node);
	if (good && row->type == CONFIG_INT)
		good = lab_parse_i64(text, &i, NULL) == 0;
	else if (good && row->type == CONFIG_UINT)
		good = lab_parse_u64(text, &u, NULL) == 0;
	else if (good && row->type == CONFIG_NUMBER)
		good = lab_parse_double(text, &d, NULL) == 0;
	else if (good && row->type == CONFIG_BOOL)
		good = strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
	else if (good && row->type == CONFIG_SIZE)
		good = lab_parse_size(text, &u, NULL) == 0;
	else if (good)
		good = lab_parse_duration(text, &u, NULL) == 0;
	if (!good)
		return wrong_type(node, what, row->type, err);
	return check_bounds(node, what, row, u, err);
}

/* The row that each value of an open map or each element of a list is held against. */
static struct config_key element_row(const struct config_key *row)
{
	struct config_key element = *row;

	element.type = row->element;
	if (element.type == CONFIG_ANY && row->sub)
		element.type = CONFIG_MAP;
	element.element = CONFIG_ANY;
	element.open = false;
	element.may_be_empty = false;
	return element;
}

static int check_map(const struct config_node *node, const char *what, const struct config_key *row,
		     struct lab_error *err)
{
	struct config_key element = element_row(row);

	if (config_node_kind(node) != CONFIG_MAPPING)
		return wrong_type(node, what, CONFIG_MAP, err);
	if (!row->open)
		return row->sub ? config_check(node, row->sub, err) : 0;
	if (!config_len(node) && !row->may_be_empty)
		return config_error(node, err, "%s is empty", what);
	for (size_t i = 0; i < config_len(node); i++) {
		LAB_CLEANUP(buf) struct lab_buf name = LAB_BUF_INIT;
		const char *key;
		const struct config_node *value = config_map_at(node, i, &key);

		lab_buf_addf(&name, "'%s'", key);
		if (config_check_value(value, name.data, &element, err) < 0)
			return -1;
	}
	return 0;
}

static int check_seq(const struct config_node *node, const char *what, const struct config_key *row,
		     struct lab_error *err)
{
	struct config_key element = element_row(row);
	LAB_CLEANUP(buf) struct lab_buf name = LAB_BUF_INIT;

	if (row->type == CONFIG_STRINGS) {
		if (config_str(node))
			return check_string(node, what, row, CONFIG_STRINGS, err);
		element.type = CONFIG_STRING;
		element.may_be_empty = true; /* "" is a fine argument of a command */
	}
	if (config_node_kind(node) != CONFIG_SEQUENCE)
		return wrong_type(node, what, row->type, err);
	if (!config_len(node) && !row->may_be_empty)
		return config_error(node, err, "%s is empty", what);
	lab_buf_addf(&name, "each of %s", what);
	for (size_t i = 0; i < config_len(node); i++) {
		if (config_check_value(config_seq_at(node, i), name.data, &element, err) < 0)
			return -1;
	}
	return 0;
}

int config_check_value(const struct config_node *node, const char *what,
		       const struct config_key *row, struct lab_error *err)
{
	switch (row->type) {
	case CONFIG_ANY:
		return 0;
	case CONFIG_STRING:
		return check_string(node, what, row, CONFIG_STRING, err);
	case CONFIG_MAP:
		return check_map(node, what, row, err);
	case CONFIG_SEQ:
	case CONFIG_STRINGS:
		return check_seq(node, what, row, err);
	default:
		return check_plain(node, what, row, err);
	}
}

static const struct config_key *find_row(const struct config_key *keys, const char *name)
{
	for (; keys->name; keys++) {
		if (strcmp(keys->name, name) == 0)
			return keys;
	}
	return NULL;
}

static int unknown_key(const struct config_node *map, size_t i, const char *key,
		       const struct config_key *keys, struct lab_error *err)
{
	struct lab_nearest nearest = {.word = key};
	LAB_CLEANUP(buf) struct lab_buf all = LAB_BUF_INIT;

	for (const struct config_key *row = keys; row->name; row++) {
		lab_nearest_consider(&nearest, row->name);
		lab_buf_addf(&all, "%s%s", row == keys ? "" : ", ", row->name);
	}
	if (nearest.best)
		return config_key_error(map, i, err, "unknown key '%s'; did you mean '%s'?", key,
					nearest.best);
	return config_key_error(map, i, err, "unknown key '%s'; known here: %s", key,
				all.data ? all.data : "none");
}

int config_check(const struct config_node *map, const struct config_key *keys,
		 struct lab_error *err)
{
	if (config_node_kind(map) != CONFIG_MAPPING)
		return config_error(map, err, "a map of keys and values must stand here, not %s",
				    config_node_describe(map));
	for (size_t i = 0; i < config_len(map); i++) {
		LAB_CLEANUP(buf) struct lab_buf what = LAB_BUF_INIT;
		const char *key;
		const struct config_node *value = config_map_at(map, i, &key);
		const struct config_key *row = find_row(keys, key);

		if (!row)
			return unknown_key(map, i, key, keys, err);
		lab_buf_addf(&what, "'%s'", key);
		if (config_check_value(value, what.data, row, err) < 0)
			return -1;
	}
	for (; keys->name; keys++) {
		if (keys->required && !config_map_get(map, keys->name))
			return config_error(map, err, "'%s' is missing", keys->name);
	}
	return 0;
}

const char *config_get_str(const struct config_node *map, const char *key, const char *fallback)
{
	const char *text = config_str(config_map_get(map, key));

	return text ? text : fallback;
}

uint64_t config_get_u64(const struct config_node *map, const char *key, uint64_t fallback)
{
	const char *text = config_get_str(map, key, NULL);
	uint64_t value;

	return text && lab_parse_u64(text, &value, NULL) == 0 ? value : fallback;
}

int64_t config_get_i64(const struct config_node *map, const char *key, int64_t fallback)
{
	const char *text = config_get_str(map, key, NULL);
	int64_t value;

	return text && lab_parse_i64(text, &value, NULL) == 0 ? value : fallback;
}

double config_get_number(const struct config_node *map, const char *key, double fallback)
{
	const char *text = config_get_str(map, key, NULL);
	double value;

	return text && lab_parse_double(text, &value, NULL) == 0 ? value : fallback;
}

bool config_get_bool(const struct config_node *map, const char *key, bool fallback)
{
	const char *text = config_get_str(map, key, NULL);

	return text ? strcmp(text, "true") == 0 : fallback;
}

uint64_t config_get_size(const struct config_node *map, const char *key, uint64_t fallback)
{
	const char *text = config_get_str(map, key, NULL);
	uint64_t value;

	return text && lab_parse_size(text, &value, NULL) == 0 ? value : fallback;
}

uint64_t config_get_duration(const struct config_node *map, const char *key, uint64_t fallback)
{
	const char *text = config_get_str(map, key, NULL);
	uint64_t value;

	return text && lab_parse_duration(text, &value, NULL) == 0 ? value : fallback;
}

size_t config_strings_len(const struct config_node *map, const char *key)
{
	const struct config_node *node = config_map_get(map, key);

	if (!node)
		return 0;
	return config_str(node) ? 1 : config_len(node);
}

const char *config_strings_at(const struct config_node *map, const char *key, size_t i)
{
	const struct config_node *node = config_map_get(map, key);

	if (node && config_str(node))
		return i == 0 ? config_str(node) : NULL;
	return node ? config_str(config_seq_at(node, i)) : NULL;
}
