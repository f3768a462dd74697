/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiments/parse.h"

#include <string.h>

#include "common/mem.h"
#include "common/nearest.h"
#include "config/schema.h"
#include "experiments/settings.h"
#include "workloads/driver.h"

static const char *const thp_words[] = {"always", "madvise", "never", NULL};

const struct config_key settings_keys[] = {
	{"sysctl", CONFIG_MAP, .open = true, .element = CONFIG_STRING},
	{"thp", CONFIG_STRING, .choices = thp_words},
	{"write", CONFIG_MAP, .open = true, .element = CONFIG_STRING},
	{NULL},
};

static const struct config_key variant_keys[] = {
	{"kernel", CONFIG_STRING},
	{"cmdline", CONFIG_STRING, .may_be_empty = true},
	{"settings", CONFIG_MAP, .sub = settings_keys},
	{NULL},
};

static const struct config_key level_keys[] = {
	{"options", CONFIG_MAP, .open = true, .element = CONFIG_MAP},
	{"settings", CONFIG_MAP, .sub = settings_keys},
	{NULL},
};

int parse_name(const struct config_node *map, size_t i, const char *what, const char *name,
	       struct lab_error *err)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "_.+-";

	if (strlen(name) > 32 || strspn(name, good) != strlen(name) || !*name ||
	    strchr("_.+-", *name))
		return config_key_error(map, i, err,
					"the name of a %s is made of at most 32 letters, digits "
					"and _ . + - after the first, not '%.60s'",
					what, name);
	return 0;
}

void parse_settings(const struct config_node *node, struct experiment_settings *settings)
{
	const struct config_node *sysctl, *write;
	const char *key, *thp;

	if (!node)
		return;
	sysctl = config_map_get(node, "sysctl");
	for (size_t i = 0; sysctl && i < config_len(sysctl); i++) {
		const struct config_node *value = config_map_at(sysctl, i, &key);

		settings_put(settings, "sysctl", key, config_str(value));
	}
	thp = config_get_str(node, "thp", NULL);
	if (thp)
		settings_put(settings, "write", "/sys/kernel/mm/transparent_hugepage/enabled", thp);
	write = config_map_get(node, "write");
	for (size_t i = 0; write && i < config_len(write); i++) {
		const struct config_node *value = config_map_at(write, i, &key);

		settings_put(settings, "write", key, config_str(value));
	}
}

static int parse_list(const struct workload_option *option, const struct config_node *node,
		      json_t **ret_value, struct lab_error *err)
{
	json_auto_t *list = json_array();
	struct lab_error why;

	for (size_t i = 0; i < config_len(node); i++) {
		const char *text = config_str(config_seq_at(node, i));

		if (!text)
			return config_error(config_seq_at(node, i), err, "a text must stand here");
		json_array_append_new(list, json_string(text));
	}
	if (workload_option_check(option, list, &why))
		return config_error(node, err, "%s", why.text);
	*ret_value = LAB_TAKE(list);
	return 0;
}

static int parse_option(const struct workload_option *option, const struct config_node *node,
			json_t **ret_value, struct lab_error *err)
{
	struct lab_error why;

	if (option->type == WORKLOAD_STRINGS && config_node_kind(node) == CONFIG_SEQUENCE)
		return parse_list(option, node, ret_value, err);
	if (!config_str(node))
		return config_error(node, err, "option '%s' is a single value, not %s",
				    option->name, config_node_describe(node));
	if (workload_option_read(option, config_str(node), ret_value, &why))
		return config_error(node, err, "%s", why.text);
	return 0;
}

int parse_options(const struct config_node *node, const char *workload, json_t **ret_options,
		  struct lab_error *err)
{
	const struct workload *w = workload_find(workload);
	json_auto_t *options = json_object();
	struct lab_error why;

	for (size_t i = 0; node && i < config_len(node); i++) {
		const char *key;
		const struct config_node *value = config_map_at(node, i, &key);
		const struct workload_option *option = workload_option_find(w, key);
		json_t *read = NULL;

		if (!option) {
			workload_option_unknown(w, key, &why);
			return config_key_error(node, i, err, "%s", why.text);
		}
		if (parse_option(option, value, &read, err))
			return -1;
		json_object_set_new(options, key, read);
	}
	*ret_options = LAB_TAKE(options);
	return 0;
}

static const struct experiment_phase *find_phase(const struct experiment *e, const char *name,
						 const char **ret_nearest)
{
	struct lab_nearest nearest = {.word = name};

	for (size_t i = 0; i < e->n_phases; i++) {
		if (strcmp(e->phases[i].name, name) == 0)
			return &e->phases[i];
		lab_nearest_consider(&nearest, e->phases[i].name);
	}
	*ret_nearest = nearest.best;
	return NULL;
}

int parse_phase_options(const struct config_node *node, const struct experiment *experiment,
			json_t **ret_options, struct lab_error *err)
{
	json_auto_t *all = json_object();

	for (size_t i = 0; node && i < config_len(node); i++) {
		const char *name, *nearest = NULL;
		const struct config_node *value = config_map_at(node, i, &name);
		const struct experiment_phase *phase = find_phase(experiment, name, &nearest);
		json_t *options = NULL;

		if (!phase)
			return config_key_error(node, i, err, "no phase is named '%s'%s%s%s", name,
						nearest ? "; did you mean '" : "",
						nearest ? nearest : "", nearest ? "'?" : "");
		if (parse_options(value, phase->workload, &options, err))
			return -1;
		json_object_set_new(all, name, options);
	}
	*ret_options = LAB_TAKE(all);
	return 0;
}

/* Without a word about variants there are two, which differ in their kernel. */
static void default_variants(struct experiment *e)
{
	e->n_variants = 2;
	e->variants = LAB_NEW_ARRAY(struct experiment_variant, 2);
	for (size_t i = 0; i < 2; i++) {
		e->variants[i].name = lab_strdup(i ? "B" : "A");
		e->variants[i].kernel = lab_strdup(e->variants[i].name);
		e->variants[i].cmdline = lab_strdup("");
	}
}

int parse_variants(const struct config_node *node, struct experiment *experiment,
		   struct lab_error *err)
{
	if (!node) {
		default_variants(experiment);
		return 0;
	}
	experiment->variants = LAB_NEW_ARRAY(struct experiment_variant, config_len(node));
	for (size_t i = 0; i < config_len(node); i++) {
		struct experiment_variant *v = &experiment->variants[i];
		const char *name;
		const struct config_node *value = config_map_at(node, i, &name);

		if (parse_name(node, i, "variant", name, err) ||
		    config_check(value, variant_keys, err))
			return -1;
		experiment->n_variants++;
		v->name = lab_strdup(name);
		v->kernel = lab_strdup(config_get_str(value, "kernel", name));
		v->cmdline = lab_strdup(config_get_str(value, "cmdline", ""));
		parse_settings(config_map_get(value, "settings"), &v->settings);
	}
	if (experiment->n_variants < 2 && !experiment->aa)
		return config_error(node, err, "a comparison needs two variants or more");
	return 0;
}

static int parse_levels(const struct config_node *node, const struct experiment *experiment,
			struct experiment_factor *factor, struct lab_error *err)
{
	const struct config_key row = {.type = CONFIG_MAP, .sub = level_keys, .may_be_empty = true};

	if (!config_len(node))
		return config_error(node, err, "factor '%s' has no level", factor->name);
	factor->levels = LAB_NEW_ARRAY(struct experiment_level, config_len(node));
	for (size_t i = 0; i < config_len(node); i++) {
		struct experiment_level *level = &factor->levels[i];
		const char *name;
		const struct config_node *value = config_map_at(node, i, &name);

		if (parse_name(node, i, "level", name, err) ||
		    config_check_value(value, name, &row, err) ||
		    parse_phase_options(config_map_get(value, "options"), experiment,
					&level->options, err))
			return -1;
		factor->n++;
		level->name = lab_strdup(name);
		parse_settings(config_map_get(value, "settings"), &level->settings);
	}
	return 0;
}

int parse_factors(const struct config_node *node, struct experiment *experiment,
		  struct lab_error *err)
{
	if (!node)
		return 0;
	experiment->factors = LAB_NEW_ARRAY(struct experiment_factor, config_len(node));
	for (size_t i = 0; i < config_len(node); i++) {
		struct experiment_factor *factor = &experiment->factors[i];
		const char *name;
		const struct config_node *value = config_map_at(node, i, &name);

		if (parse_name(node, i, "factor", name, err))
			return -1;
		experiment->n_factors++;
		factor->name = lab_strdup(name);
		if (parse_levels(value, experiment, factor, err))
			return -1;
	}
	return 0;
}
