/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workloads/driver.h"

#include <stdbool.h>
#include <string.h>

#include "common/mem.h"
#include "common/nearest.h"
#include "common/num.h"
#include "workloads/drivers.h"

/* The one list of workloads, in name order. */
static const struct workload *const workloads[] = {
	&workload_command,
	&workload_hackbench,
	&workload_true,
};

const struct workload *workload_find(const char *name)
{
	for (size_t i = 0; i < LAB_COUNT(workloads); i++)
		if (strcmp(workloads[i]->name, name) == 0)
			return workloads[i];
	return NULL;
}

const struct workload *workload_at(size_t i)
{
	return i < LAB_COUNT(workloads) ? workloads[i] : NULL;
}

const char *workload_nearest(const char *name)
{
	struct lab_nearest nearest = {.word = name};

	for (size_t i = 0; i < LAB_COUNT(workloads); i++)
		lab_nearest_consider(&nearest, workloads[i]->name);
	return nearest.best;
}

const struct workload_option *workload_option_find(const struct workload *workload,
						   const char *name)
{
	for (const struct workload_option *o = workload->options; o->name; o++)
		if (strcmp(o->name, name) == 0)
			return o;
	return NULL;
}

static const char *wanted(enum workload_option_type type)
{
	switch (type) {
	case WORKLOAD_INT:
		return "a whole number";
	case WORKLOAD_SIZE:
		return "a size like \"64 KiB\"";
	case WORKLOAD_DURATION:
		return "a duration like \"10 s\"";
	case WORKLOAD_STRING:
		return "a text";
	case WORKLOAD_STRINGS:
		return "a list of texts";
	case WORKLOAD_BOOL:
		return "true or false";
	}
	return "something else";
}

static int check_word(const struct workload_option *option, const json_t *value,
		      struct lab_error *err)
{
	struct lab_nearest nearest = {0};
	const char *word;

	if (!json_is_string(value) || !*json_string_value(value))
		return lab_error_set(err, LAB_ERR_INVALID, "option '%s' wants %s", option->name,
				     wanted(option->type));
	if (!option->words)
		return 0;
	word = json_string_value(value);
	nearest.word = word;
	for (size_t i = 0; option->words[i]; i++) {
		if (strcmp(option->words[i], word) == 0)
			return 0;
		lab_nearest_consider(&nearest, option->words[i]);
	}
	return lab_error_set(err, LAB_ERR_INVALID, "option '%s' knows no '%.60s'%s%s%s",
			     option->name, word, nearest.best ? " (did you mean '" : "",
			     nearest.best ? nearest.best : "", nearest.best ? "'?)" : "");
}

static int check_words(const struct workload_option *option, const json_t *value,
		       struct lab_error *err)
{
	if (!json_is_array(value) || !json_array_size(value))
		return lab_error_set(err, LAB_ERR_INVALID, "option '%s' wants %s", option->name,
				     wanted(option->type));
	for (size_t i = 0; i < json_array_size(value); i++) {
		if (check_word(option, json_array_get(value, i), err))
			return -1;
		for (size_t j = 0; option->words && j < i; j++)
			if (json_equal(json_array_get(value, i), json_array_get(value, j)))
				return lab_error_set(err, LAB_ERR_INVALID,
						     "option '%s' has '%s' twice", option->name,
						     json_string_value(json_array_get(value, i)));
	}
	return 0;
}

static int check_number(const struct workload_option *option, const json_t *value,
			struct lab_error *err)
{
	json_int_t number = json_integer_value(value);

	if (!json_is_integer(value) || number < 0)
		return lab_error_set(err, LAB_ERR_INVALID, "option '%s' wants %s", option->name,
				     wanted(option->type));
	if ((uint64_t)number < option->min)
		return lab_error_set(err, LAB_ERR_INVALID, "option '%s' is at least %llu",
				     option->name, (unsigned long long)option->min);
	if (option->max && (uint64_t)number > option->max)
		return lab_error_set(err, LAB_ERR_INVALID, "option '%s' is at most %llu",
				     option->name, (unsigned long long)option->max);
	return 0;
}

int workload_option_check(const struct workload_option *option, const json_t *value,
			  struct lab_error *err)
{
	switch (option->type) {
	case WORKLOAD_STRING:
		return check_word(option, value, err);
	case WORKLOAD_STRINGS:
		return check_words(option, value, err);
	case WORKLOAD_BOOL:
		if (json_is_boolean(value))
			return 0;
		return lab_error_set(err, LAB_ERR_INVALID, "option '%s' wants %s", option->name,
				     wanted(option->type));
	default:
		return check_number(option, value, err);
	}
}

int workload_option_read(const struct workload_option *option, const char *text, json_t **ret_value,
			 struct lab_error *err)
{
	json_auto_t *value = NULL;
	uint64_t number;
	int rc = -1;

	switch (option->type) {
	case WORKLOAD_INT:
		rc = lab_parse_u64(text, &number, NULL);
		break;
	case WORKLOAD_SIZE:
		rc = lab_parse_size(text, &number, NULL);
		break;
	case WORKLOAD_DURATION:
		rc = lab_parse_duration(text, &number, NULL);
		break;
	case WORKLOAD_STRING:
		value = json_string(text);
		break;
	case WORKLOAD_STRINGS:
		value = json_pack("[s]", text);
		break;
	case WORKLOAD_BOOL:
		if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
			value = json_boolean(*text == 't');
		break;
	}
	if (rc == 0 && number <= INT64_MAX)
		value = json_integer((json_int_t)number);
	if (!value)
		return lab_error_set(err, LAB_ERR_INVALID, "option '%s' wants %s, not '%.60s'",
				     option->name, wanted(option->type), text);
	if (workload_option_check(option, value, err))
		return -1;
	*ret_value = LAB_TAKE(value);
	return 0;
}

/* Words of a STRINGS default are separated by blanks. */
static json_t *default_value(const struct workload_option *option)
{
	LAB_CLEANUP(strv) struct lab_strv words = LAB_STRV_INIT;
	json_t *value = NULL;

	if (option->type != WORKLOAD_STRINGS) {
		if (workload_option_read(option, option->value, &value, NULL))
			return NULL;
		return value;
	}
	value = json_array();
	lab_strv_split(&words, option->value, " ");
	for (size_t i = 0; i < words.n; i++)
		json_array_append_new(value, json_string(words.items[i]));
	return value;
}

int workload_option_unknown(const struct workload *workload, const char *name,
			    struct lab_error *err)
{
	struct lab_nearest nearest = {.word = name};

	for (const struct workload_option *o = workload->options; o->name; o++)
		lab_nearest_consider(&nearest, o->name);
	return lab_error_set(err, LAB_ERR_INVALID, "workload '%s' has no option '%.60s'%s%s%s",
			     workload->name, name, nearest.best ? " (did you mean '" : "",
			     nearest.best ? nearest.best : "", nearest.best ? "'?)" : "");
}

int workload_options_complete(const struct workload *workload, const json_t *given,
			      json_t **ret_options, struct lab_error *err)
{
	json_auto_t *options = json_object();
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)given, name, value)
	{
		const struct workload_option *o = workload_option_find(workload, name);

		if (!o)
			return workload_option_unknown(workload, name, err);
		if (workload_option_check(o, value, err))
			return -1;
		json_object_set_new(options, name, json_deep_copy(value));
	}
	for (const struct workload_option *o = workload->options; o->name; o++) {
		if (json_object_get(options, o->name))
			continue;
		if (!o->value)
			return lab_error_set(err, LAB_ERR_INVALID,
					     "workload '%s' needs option '%s'", workload->name,
					     o->name);
		value = *o->value ? default_value(o) : NULL;
		if (value)
			json_object_set_new(options, o->name, value);
	}
	*ret_options = LAB_TAKE(options);
	return 0;
}
