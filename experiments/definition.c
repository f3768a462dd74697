/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiments/definition.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "common/file.h"
#include "common/mem.h"
#include "common/nearest.h"
#include "config/schema.h"
#include "experiments/parse.h"
#include "experiments/resolve.h"
#include "experiments/settings.h"
#include "workloads/driver.h"

static const char *const series_names[] = {"meminfo", "vmstat",	 "slabinfo", "psi",
					   "stat",    "loadavg", NULL};
static const char *const snapshot_names[] = {"cpuinfo", "cmdline", "zoneinfo", "meminfo",
					     "sysctl",	"mounts",  "swaps",    "slabinfo",
					     "vmstat",	"dmesg",   NULL};

static const char *const storage_names[] = {"delayed", "sync", NULL};

static const struct config_key kernel_keys[] = {
	{"base-config", CONFIG_STRING},
	{"fragments", CONFIG_STRINGS},
	{"config", CONFIG_STRINGS},
	{"cmdline", CONFIG_STRING, .may_be_empty = true},
	{NULL},
};

static const struct config_key collect_keys[] = {
	{"interval", CONFIG_DURATION, .max = 3600000},
	{"series", CONFIG_STRINGS, .choices = series_names},
	{"snapshots", CONFIG_STRINGS, .choices = snapshot_names},
	{NULL},
};

static const struct config_key phase_keys[] = {
	{"name", CONFIG_STRING, .required = true},
	{"workload", CONFIG_STRING, .required = true},
	{"options", CONFIG_MAP, .open = true, .may_be_empty = true},
	{"timeout", CONFIG_DURATION, .min = 1},
	{NULL},
};

static const struct config_key deadline_keys[] = {
	{"boot", CONFIG_DURATION, .min = 1},	 {"heartbeat", CONFIG_DURATION, .min = 1},
	{"progress", CONFIG_DURATION, .min = 1}, {"total", CONFIG_DURATION, .min = 1},
	{"poweroff", CONFIG_DURATION, .min = 1}, {NULL},
};

static const struct config_key preset_keys[] = {
	{"title", CONFIG_STRING},
	{"memory", CONFIG_SIZE, .required = true, .min = 32 << 20},
	{"vcpus", CONFIG_UINT, .min = 1, .max = 4096},
	{"data", CONFIG_SIZE, .min = 1 << 20},
	{"swap", CONFIG_SIZE, .min = 1 << 20},
	{"n", CONFIG_UINT, .required = true, .min = 1, .max = 10000},
	{"interval", CONFIG_DURATION, .max = 3600000},
	{"options", CONFIG_MAP, .open = true, .element = CONFIG_MAP},
	{"deadlines", CONFIG_MAP, .sub = deadline_keys},
	{NULL},
};

static const struct config_key root_keys[] = {
	{"title", CONFIG_STRING, .required = true},
	{"method", CONFIG_STRING},
	{"image", CONFIG_STRING, .required = true},
	{"target", CONFIG_STRING},
	{"storage", CONFIG_STRING, .choices = storage_names},
	{"patchset", CONFIG_STRING},
	{"aa", CONFIG_BOOL},
	{"cpu-model", CONFIG_STRING},
	{"kernel", CONFIG_MAP, .sub = kernel_keys},
	{"settings", CONFIG_MAP, .sub = settings_keys},
	{"variants", CONFIG_MAP, .open = true, .element = CONFIG_MAP},
	{"factors", CONFIG_MAP, .open = true, .element = CONFIG_MAP},
	{"phases", CONFIG_SEQ, .required = true, .sub = phase_keys},
	{"collect", CONFIG_MAP, .sub = collect_keys},
	{"metrics", CONFIG_STRINGS},
	{"presets", CONFIG_MAP, .required = true, .open = true, .element = CONFIG_MAP},
	{NULL},
};

static void strings(const struct config_node *map, const char *key, struct lab_strv *v)
{
	for (size_t i = 0; map && i < config_strings_len(map, key); i++)
		lab_strv_add(v, config_strings_at(map, key, i));
}

static int parse_phase(const struct config_node *node, struct experiment *e, struct lab_error *err)
{
	struct experiment_phase *p = &e->phases[e->n_phases];
	const char *name = config_get_str(node, "name", "");
	const char *workload = config_get_str(node, "workload", "");
	const char *nearest = workload_nearest(workload);

	if (!workload_find(workload))
		return config_error(config_map_get(node, "workload"), err,
				    "no workload is named '%.60s'%s%s%s", workload,
				    nearest ? "; did you mean '" : "", nearest ? nearest : "",
				    nearest ? "'?" : "");
	if (strlen(name) >= JOB_NAME_MAX ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(name))
		return config_error(config_map_get(node, "name"), err,
				    "the name of a phase is made of small letters, digits and -");
	for (size_t i = 0; i < e->n_phases; i++)
		if (strcmp(e->phases[i].name, name) == 0)
			return config_error(config_map_get(node, "name"), err,
					    "two phases are named '%s'", name);
	if (parse_options(config_map_get(node, "options"), workload, &p->options, err))
		return -1;
	e->n_phases++;
	p->name = lab_strdup(name);
	p->workload = lab_strdup(workload);
	p->timeout_ms = config_get_duration(node, "timeout", 0);
	return 0;
}

int parse_phases(const struct config_node *node, struct experiment *experiment,
		 struct lab_error *err)
{
	bool run = false;

	experiment->phases = LAB_NEW_ARRAY(struct experiment_phase, config_len(node));
	for (size_t i = 0; i < config_len(node); i++) {
		if (parse_phase(config_seq_at(node, i), experiment, err))
			return -1;
		run |= strcmp(experiment->phases[i].name, JOB_PHASE_RUN) == 0;
	}
	if (!run)
		return config_error(node, err,
				    "no phase is named '" JOB_PHASE_RUN
				    "': that is the one that is measured");
	return 0;
}

static int parse_preset(const struct config_node *node, struct experiment *e, struct lab_error *err)
{
	struct experiment_preset *p = &e->presets[e->n_presets];
	const struct config_node *d = config_map_get(node, "deadlines");

	if (config_check(node, preset_keys, err))
		return -1;
	p->memory = config_get_size(node, "memory", 0);
	if (p->memory % (1 << 20))
		return config_error(config_map_get(node, "memory"), err,
				    "memory comes in whole MiB");
	if (parse_phase_options(config_map_get(node, "options"), e, &p->options, err))
		return -1;
	p->title = lab_strdup(config_get_str(node, "title", ""));
	p->vcpus = (unsigned)config_get_u64(node, "vcpus", 1);
	p->data = config_get_size(node, "data", 0);
	p->swap = config_get_size(node, "swap", 0);
	p->n = (unsigned)config_get_u64(node, "n", 1);
	p->interval_ms = config_get_duration(node, "interval", e->collect.interval_ms);
	p->deadlines = (struct experiment_deadlines){
		.boot = d ? config_get_duration(d, "boot", 60000) : 60000,
		.heartbeat = d ? config_get_duration(d, "heartbeat", 20000) : 20000,
		.progress = d ? config_get_duration(d, "progress", 120000) : 120000,
		.total = d ? config_get_duration(d, "total", 600000) : 600000,
		.poweroff = d ? config_get_duration(d, "poweroff", 10000) : 10000,
	};
	return 0;
}

/* Whatever can only be seen once options are complete is seen now, not after a build. */
static int check_preset(const struct config_node *node, const struct experiment *e,
			const struct experiment_preset *preset, struct lab_error *err)
{
	struct lab_error why;

	if (resolve_check(e, preset, &why))
		return config_error(node, err, "preset '%s': %s", preset->name, why.text);
	return 0;
}

int parse_presets(const struct config_node *node, struct experiment *experiment,
		  struct lab_error *err)
{
	experiment->presets = LAB_NEW_ARRAY(struct experiment_preset, config_len(node));
	for (size_t i = 0; i < config_len(node); i++) {
		const char *name;
		const struct config_node *value = config_map_at(node, i, &name);

		if (parse_name(node, i, "preset", name, err) ||
		    parse_preset(value, experiment, err))
			return -1;
		experiment->presets[experiment->n_presets++].name = lab_strdup(name);
		if (check_preset(value, experiment, &experiment->presets[i], err))
			return -1;
	}
	return 0;
}

static int parse_root(const struct config_node *root, struct experiment *e, struct lab_error *err)
{
	const struct config_node *kernel, *collect;

	if (config_check(root, root_keys, err))
		return -1;
	kernel = config_map_get(root, "kernel");
	collect = config_map_get(root, "collect");
	e->title = lab_strdup(config_get_str(root, "title", ""));
	e->method = lab_strdup(config_get_str(root, "method", NULL));
	e->image = lab_strdup(config_get_str(root, "image", ""));
	e->target = lab_strdup(config_get_str(root, "target", "live"));
	e->sync_storage = strcmp(config_get_str(root, "storage", "delayed"), "sync") == 0;
	e->patchset = lab_strdup(config_get_str(root, "patchset", NULL));
	e->aa = config_get_bool(root, "aa", false);
	e->cpu_model = lab_strdup(config_get_str(root, "cpu-model", NULL));
	e->base_config = lab_strdup(kernel ? config_get_str(kernel, "base-config", NULL) : NULL);
	e->cmdline = lab_strdup(kernel ? config_get_str(kernel, "cmdline", "") : "");
	strings(kernel, "fragments", &e->fragments);
	strings(kernel, "config", &e->config);
	strings(root, "metrics", &e->metrics);
	strings(collect, "series", &e->collect.series);
	strings(collect, "snapshots", &e->collect.snapshots);
	e->collect.interval_ms = collect ? config_get_duration(collect, "interval", 0) : 0;
	parse_settings(config_map_get(root, "settings"), &e->settings);
	if (parse_variants(config_map_get(root, "variants"), e, err) ||
	    parse_phases(config_map_get(root, "phases"), e, err) ||
	    parse_factors(config_map_get(root, "factors"), e, err) ||
	    parse_presets(config_map_get(root, "presets"), e, err))
		return -1;
	return 0;
}

static char *name_of(const char *path)
{
	char *name = lab_strdup(lab_path_base(path));

	if (lab_ends_with(name, ".yaml"))
		name[strlen(name) - strlen(".yaml")] = 0;
	return name;
}

static int read_doc(const struct config_doc *doc, struct experiment **ret_experiment,
		    struct lab_error *err)
{
	LAB_CLEANUP(experiment) struct experiment *e = LAB_NEW(struct experiment);

	e->path = lab_strdup(config_doc_name(doc));
	e->name = name_of(e->path);
	if (parse_root(config_doc_root(doc), e, err))
		return -1;
	*ret_experiment = LAB_TAKE(e);
	return 0;
}

int experiment_load(const char *path, struct experiment **ret_experiment, struct lab_error *err)
{
	LAB_CLEANUP(config_doc) struct config_doc *doc = NULL;

	if (config_doc_load(path, &doc, err))
		return -1;
	return read_doc(doc, ret_experiment, err);
}

int experiment_parse(const char *name, const char *text, size_t len,
		     struct experiment **ret_experiment, struct lab_error *err)
{
	LAB_CLEANUP(config_doc) struct config_doc *doc = NULL;

	if (config_doc_parse(name, text, len, &doc, err))
		return -1;
	return read_doc(doc, ret_experiment, err);
}

int experiment_list(const char *data_dir, struct lab_strv *names, struct lab_error *err)
{
	LAB_CLEANUP(dir) DIR *dir = opendir(data_dir);
	struct dirent *entry;

	if (!dir && errno == ENOENT)
		return 0;
	if (!dir)
		return lab_error_errno(err, errno, "read directory '%s'", data_dir);
	while ((entry = readdir(dir))) {
		LAB_CLEANUP(free) char *name = NULL;

		if (!lab_ends_with(entry->d_name, ".yaml") || entry->d_name[0] == '.')
			continue;
		name = name_of(entry->d_name);
		lab_strv_add(names, name);
	}
	lab_strv_sort(names);
	return 0;
}

static int no_such(const char *data_dir, const char *name, struct lab_error *err)
{
	LAB_CLEANUP(strv) struct lab_strv names = LAB_STRV_INIT;
	struct lab_nearest nearest = {.word = name};
	LAB_CLEANUP(free) char *all = NULL;

	if (data_dir && experiment_list(data_dir, &names, NULL))
		return lab_error_set(err, LAB_ERR_NOT_FOUND, "no experiment '%s'", name);
	for (size_t i = 0; i < names.n; i++)
		lab_nearest_consider(&nearest, names.items[i]);
	if (nearest.best)
		return lab_error_set(err, LAB_ERR_NOT_FOUND,
				     "no experiment '%s'; did you mean '%s'?", name, nearest.best);
	all = lab_strv_join(&names, ", ");
	return lab_error_set(err, LAB_ERR_NOT_FOUND, "no experiment '%s'; there %s: %s", name,
			     names.n == 1 ? "is" : "are", names.n ? all : "none");
}

int experiment_find(const char *data_dir, const char *name, struct experiment **ret_experiment,
		    struct lab_error *err)
{
	LAB_CLEANUP(free) char *path = NULL;

	if (strchr(name, '/') || lab_ends_with(name, ".yaml"))
		return experiment_load(name, ret_experiment, err);
	path = data_dir ? lab_asprintf("%s/%s.yaml", data_dir, name) : NULL;
	if (path && lab_file_exists(path))
		return experiment_load(path, ret_experiment, err);
	return no_such(data_dir, name, err);
}

const struct experiment_preset *experiment_preset(const struct experiment *experiment,
						  const char *name, struct lab_error *err)
{
	LAB_CLEANUP(strv) struct lab_strv names = LAB_STRV_INIT;
	LAB_CLEANUP(free) char *all = NULL;

	if (!name)
		return &experiment->presets[0];
	for (size_t i = 0; i < experiment->n_presets; i++) {
		if (strcmp(experiment->presets[i].name, name) == 0)
			return &experiment->presets[i];
		lab_strv_add(&names, experiment->presets[i].name);
	}
	all = lab_strv_join(&names, ", ");
	lab_error_set(err, LAB_ERR_USAGE, "experiment '%s' has no preset '%s', only: %s",
		      experiment->name, name, all);
	return NULL;
}

static void free_levels(struct experiment_factor *factor)
{
	for (size_t i = 0; i < factor->n; i++) {
		free(factor->levels[i].name);
		json_decref(factor->levels[i].options);
		settings_release(&factor->levels[i].settings);
	}
	free(factor->levels);
	free(factor->name);
}

static void free_variants(struct experiment *e)
{
	for (size_t i = 0; i < e->n_variants; i++) {
		free(e->variants[i].name);
		free(e->variants[i].kernel);
		free(e->variants[i].cmdline);
		settings_release(&e->variants[i].settings);
	}
	free(e->variants);
}

static void free_presets(struct experiment *e)
{
	for (size_t i = 0; i < e->n_presets; i++) {
		free(e->presets[i].name);
		free(e->presets[i].title);
		json_decref(e->presets[i].options);
	}
	free(e->presets);
}

void experiment_free(struct experiment *experiment)
{
	struct experiment *e = experiment;

	if (!e)
		return;
	free_variants(e);
	for (size_t i = 0; i < e->n_factors; i++)
		free_levels(&e->factors[i]);
	free(e->factors);
	for (size_t i = 0; i < e->n_phases; i++) {
		free(e->phases[i].name);
		free(e->phases[i].workload);
		json_decref(e->phases[i].options);
	}
	free(e->phases);
	free_presets(e);
	settings_release(&e->settings);
	lab_strv_release(&e->collect.series);
	lab_strv_release(&e->collect.snapshots);
	lab_strv_release(&e->fragments);
	lab_strv_release(&e->config);
	lab_strv_release(&e->metrics);
	free(e->name);
	free(e->path);
	free(e->title);
	free(e->method);
	free(e->image);
	free(e->target);
	free(e->patchset);
	free(e->base_config);
	free(e->cmdline);
	free(e->cpu_model);
	free(e);
}
