/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "protocol/field.h"
#include "protocol/job.h"

#define LIST_MAX 256 /* elements of any list but settings and arguments */
#define SETTINGS_MAX 1024
#define ARGS_MAX 1024
#define ARG_MAX_BYTES (64u << 10)
#define PATH_MAX_BYTES 1024
#define VALUE_MAX_BYTES 4096
#define DELAY_MAX_MS 10000
#define WAIT_MAX_NS 1000000000
#define TIME_MAX_MS (30ll * 24 * 3600 * 1000)

static int invalid(struct lab_error *err, const char *what)
{
	return lab_error_set(err, LAB_ERR_INVALID, "%s", what);
}

/* ---- writing ---- */

static void put(json_t *obj, const char *key, json_t *value)
{
	if (!value || json_object_set_new(obj, key, value) < 0)
		abort();
}

static void put_str(json_t *obj, const char *key, const char *s)
{
	put(obj, key, s ? field_make_str(s) : json_null());
}

static json_t *strv_json(const struct lab_strv *v)
{
	json_t *list = json_array();

	for (size_t i = 0; i < v->n; i++)
		json_array_append_new(list, field_make_str(v->items[i]));
	return list;
}

static json_t *disk_json(const struct job_disk *disk)
{
	json_t *obj = json_object();

	put_str(obj, "serial", disk->serial);
	put(obj, "bytes", json_integer((json_int_t)disk->bytes));
	put(obj, "delay_ms", json_integer(disk->delay_ms));
	return obj;
}

static json_t *mount_json(const struct job_mount *mount, bool root)
{
	json_t *obj = disk_json(&mount->disk);

	if (!root)
		put_str(obj, "path", mount->path);
	put_str(obj, "fstype", mount->fstype);
	put_str(obj, "options", mount->options);
	return obj;
}

static json_t *step_json(const struct job_step *step)
{
	json_t *obj = json_object();

	put_str(obj, "name", step->name);
	put(obj, "argv", strv_json(&step->argv));
	put(obj, "env", strv_json(&step->env));
	put_str(obj, "cwd", step->cwd);
	put(obj, "timeout_ms", json_integer((json_int_t)step->timeout_ms));
	put(obj, "optional", json_boolean(step->optional));
	return obj;
}

static json_t *phase_json(const struct job_phase *phase)
{
	json_t *obj = json_object(), *steps = json_array();

	for (size_t i = 0; i < phase->n_steps; i++)
		json_array_append_new(steps, step_json(&phase->steps[i]));
	put_str(obj, "name", phase->name);
	put(obj, "steps", steps);
	return obj;
}

static json_t *settings_json(const struct job *job)
{
	json_t *list = json_array();

	for (size_t i = 0; i < job->n_settings; i++) {
		const struct job_setting *setting = &job->settings[i];
		json_t *obj = json_object();

		put_str(obj, "kind", setting->kind == JOB_SYSCTL ? "sysctl" : "write");
		put_str(obj, "key", setting->key);
		put_str(obj, "value", setting->value);
		json_array_append_new(list, obj);
	}
	return list;
}

static json_t *collect_json(const struct job_collect *collect)
{
	json_t *obj = json_object();

	put(obj, "interval_ms", json_integer((json_int_t)collect->interval_ms));
	put(obj, "series", strv_json(&collect->series));
	put(obj, "snapshots", strv_json(&collect->snapshots));
	return obj;
}

int job_to_json(const struct job *job, json_t **ret_json, struct lab_error *err)
{
	LAB_CLEANUP(job) struct job check = JOB_INIT;
	json_t *obj = json_object(), *mounts = json_array(), *swaps = json_array();
	json_t *phases = json_array();

	for (size_t i = 0; i < job->n_mounts; i++)
		json_array_append_new(mounts, mount_json(&job->mounts[i], false));
	for (size_t i = 0; i < job->n_swaps; i++)
		json_array_append_new(swaps, disk_json(&job->swaps[i].disk));
	for (size_t i = 0; i < job->n_phases; i++)
		json_array_append_new(phases, phase_json(&job->phases[i]));
	put_str(obj, "run", job->run);
	put(obj, "seed", field_make_u64(job->seed));
	put(obj, "wait_ns", json_integer((json_int_t)job->wait_ns));
	put(obj, "root", job->root.disk.serial ? mount_json(&job->root, true) : json_null());
	put(obj, "mounts", mounts);
	put(obj, "swaps", swaps);
	put(obj, "settings", settings_json(job));
	put(obj, "collect", collect_json(&job->collect));
	put(obj, "phases", phases);
	if (job_from_json(obj, &check, err) < 0) {
		json_decref(obj);
		return -1;
	}
	*ret_json = obj;
	return 0;
}

/* ---- reading ---- */

/* Absolute and without "..", so that it stays where it says. */
static bool path_ok(const char *path)
{
	return path[0] == '/' && strlen(path) <= PATH_MAX_BYTES && !strstr(path, "/../") &&
	       !lab_ends_with(path, "/..");
}

static int read_name(const json_t *obj, const char *key, char **ret, struct lab_error *err)
{
	const char *name;

	if (field_str(obj, key, 1, JOB_NAME_MAX, &name, err) < 0)
		return -1;
	if (!field_is_name(name))
		return lab_error_set(err, LAB_ERR_INVALID, "field \"%s\": '%s' is not a plain name",
				     key, name);
	*ret = lab_strdup(name);
	return 0;
}

static int read_strv(const json_t *obj, const char *key, size_t max_len, struct lab_strv *ret,
		     struct lab_error *err)
{
	const json_t *list;

	if (field_array(obj, key, ARGS_MAX, &list, err) < 0)
		return -1;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *item = json_array_get(list, i);

		if (!json_is_string(item) || json_string_length(item) > max_len)
			return lab_error_set(err, LAB_ERR_INVALID,
					     "field \"%s\": element %zu is not a string of at most "
					     "%zu bytes",
					     key, i, max_len);
		lab_strv_add(ret, json_string_value(item));
	}
	return 0;
}

static int read_names(const json_t *obj, const char *key, struct lab_strv *ret,
		      struct lab_error *err)
{
	if (read_strv(obj, key, JOB_NAME_MAX, ret, err) < 0)
		return -1;
	for (size_t i = 0; i < ret->n; i++) {
		if (!field_is_name(ret->items[i]))
			return lab_error_set(err, LAB_ERR_INVALID,
					     "field \"%s\": '%s' is not a plain name", key,
					     ret->items[i]);
	}
	return 0;
}

static int read_disk(const json_t *obj, struct job_disk *ret, struct lab_error *err)
{
	const char *serial;
	int64_t bytes, delay;

	if (!json_is_object(obj))
		return invalid(err, "a disk is an object");
	if (field_str(obj, "serial", 1, JOB_SERIAL_MAX, &serial, err) < 0 ||
	    field_int(obj, "bytes", 0, INT64_MAX, &bytes, err) < 0 ||
	    field_int(obj, "delay_ms", 0, DELAY_MAX_MS, &delay, err) < 0)
		return -1;
	if (!field_is_name(serial))
		return lab_error_set(err, LAB_ERR_INVALID, "serial '%s' is not a plain name",
				     serial);
	ret->serial = lab_strdup(serial);
	ret->bytes = (uint64_t)bytes;
	ret->delay_ms = (unsigned)delay;
	return 0;
}

static int read_mount(const json_t *obj, bool root, struct job_mount *ret, struct lab_error *err)
{
	const char *fstype, *options, *path;

	if (read_disk(obj, &ret->disk, err) < 0 ||
	    field_str(obj, "fstype", 1, 32, &fstype, err) < 0 ||
	    field_opt_str(obj, "options", 1024, &options, err) < 0)
		return -1;
	ret->fstype = lab_strdup(fstype);
	ret->options = lab_strdup(options);
	if (root)
		return 0;
	if (field_str(obj, "path", 1, PATH_MAX_BYTES, &path, err) < 0)
		return -1;
	if (!path_ok(path))
		return lab_error_set(err, LAB_ERR_INVALID, "mount path '%s' is not absolute", path);
	ret->path = lab_strdup(path);
	return 0;
}

static int read_mounts(const json_t *obj, struct job *ret, struct lab_error *err)
{
	const json_t *root = json_object_get(obj, "root"), *list;

	if (!root)
		return invalid(err, "field \"root\" is missing");
	if (!json_is_null(root) && read_mount(root, true, &ret->root, err) < 0)
		return lab_error_wrap(err, "root");
	if (field_array(obj, "mounts", LIST_MAX, &list, err) < 0)
		return -1;
	for (size_t i = 0; i < json_array_size(list); i++) {
		LAB_GROW(ret->mounts, ret->n_mounts, ret->cap_mounts);
		ret->mounts[ret->n_mounts] = (struct job_mount){0};
		if (read_mount(json_array_get(list, i), false, &ret->mounts[ret->n_mounts++], err) <
		    0)
			return lab_error_wrap(err, "mount %zu", i);
	}
	if (field_array(obj, "swaps", LIST_MAX, &list, err) < 0)
		return -1;
	for (size_t i = 0; i < json_array_size(list); i++) {
		LAB_GROW(ret->swaps, ret->n_swaps, ret->cap_swaps);
		ret->swaps[ret->n_swaps] = (struct job_swap){{0}};
		if (read_disk(json_array_get(list, i), &ret->swaps[ret->n_swaps++].disk, err) < 0)
			return lab_error_wrap(err, "swap %zu", i);
	}
	return 0;
}

static int read_setting(const json_t *obj, struct job_setting *ret, struct lab_error *err)
{
	const char *kind, *key, *value;

	if (!json_is_object(obj))
		return invalid(err, "is not an object");
	if (field_str(obj, "kind", 1, 16, &kind, err) < 0 ||
	    field_str(obj, "key", 1, PATH_MAX_BYTES, &key, err) < 0 ||
	    field_str(obj, "value", 0, VALUE_MAX_BYTES, &value, err) < 0)
		return -1;
	if (strcmp(kind, "sysctl") == 0)
		ret->kind = JOB_SYSCTL;
	else if (strcmp(kind, "write") == 0)
		ret->kind = JOB_WRITE;
	else
		return lab_error_set(err, LAB_ERR_INVALID, "kind '%s' is not known", kind);
	if (ret->kind == JOB_WRITE ? !path_ok(key) : key[0] == '/' || strstr(key, ".."))
		return lab_error_set(err, LAB_ERR_INVALID, "key '%s' is not a %s", key,
				     ret->kind == JOB_WRITE ? "path" : "sysctl name");
	ret->key = lab_strdup(key);
	ret->value = lab_strdup(value);
	return 0;
}

static int read_settings(const json_t *obj, struct job *ret, struct lab_error *err)
{
	const json_t *list;

	if (field_array(obj, "settings", SETTINGS_MAX, &list, err) < 0)
		return -1;
	for (size_t i = 0; i < json_array_size(list); i++) {
		LAB_GROW(ret->settings, ret->n_settings, ret->cap_settings);
		ret->settings[ret->n_settings] = (struct job_setting){0};
		if (read_setting(json_array_get(list, i), &ret->settings[ret->n_settings++], err) <
		    0)
			return lab_error_wrap(err, "setting %zu", i);
	}
	return 0;
}

static int read_collect(const json_t *obj, struct job_collect *ret, struct lab_error *err)
{
	const json_t *collect;
	int64_t interval;

	if (field_object(obj, "collect", &collect, err) < 0 ||
	    field_int(collect, "interval_ms", 0, TIME_MAX_MS, &interval, err) < 0 ||
	    read_names(collect, "series", &ret->series, err) < 0 ||
	    read_names(collect, "snapshots", &ret->snapshots, err) < 0)
		return -1;
	ret->interval_ms = (uint64_t)interval;
	return 0;
}

static int check_env(const struct lab_strv *env, struct lab_error *err)
{
	for (size_t i = 0; i < env->n; i++) {
		const char *equals = strchr(env->items[i], '=');

		if (!equals || equals == env->items[i])
			return lab_error_set(err, LAB_ERR_INVALID,
					     "environment '%s' is not KEY=value", env->items[i]);
	}
	return 0;
}

static int read_step(const json_t *obj, struct job_step *ret, struct lab_error *err)
{
	const char *cwd;
	int64_t timeout;

	if (!json_is_object(obj))
		return invalid(err, "is not an object");
	if (read_name(obj, "name", &ret->name, err) < 0 ||
	    read_strv(obj, "argv", ARG_MAX_BYTES, &ret->argv, err) < 0 ||
	    read_strv(obj, "env", ARG_MAX_BYTES, &ret->env, err) < 0 ||
	    check_env(&ret->env, err) < 0 ||
	    field_opt_str(obj, "cwd", PATH_MAX_BYTES, &cwd, err) < 0 ||
	    field_int(obj, "timeout_ms", 0, TIME_MAX_MS, &timeout, err) < 0 ||
	    field_bool(obj, "optional", &ret->optional, err) < 0)
		return -1;
	if (!ret->argv.n || !ret->argv.items[0][0])
		return invalid(err, "field \"argv\" names no program");
	if (cwd && !path_ok(cwd))
		return lab_error_set(err, LAB_ERR_INVALID, "cwd '%s' is not absolute", cwd);
	ret->cwd = lab_strdup(cwd);
	ret->timeout_ms = (uint64_t)timeout;
	return 0;
}

static int read_phase(const json_t *obj, struct job_phase *ret, struct lab_error *err)
{
	const json_t *list;

	if (!json_is_object(obj))
		return invalid(err, "is not an object");
	if (read_name(obj, "name", &ret->name, err) < 0 ||
	    field_array(obj, "steps", LIST_MAX, &list, err) < 0)
		return -1;
	for (size_t i = 0; i < json_array_size(list); i++) {
		struct job_step *step = job_phase_add_step(ret, NULL, NULL, 0);

		if (read_step(json_array_get(list, i), step, err) < 0)
			return lab_error_wrap(err, "step %zu", i);
		for (size_t j = 0; j < i; j++) {
			if (strcmp(ret->steps[j].name, step->name) == 0)
				return lab_error_set(err, LAB_ERR_INVALID, "two steps named '%s'",
						     step->name);
		}
	}
	return 0;
}

static int read_phases(const json_t *obj, struct job *ret, struct lab_error *err)
{
	const json_t *list;

	if (field_array(obj, "phases", LIST_MAX, &list, err) < 0)
		return -1;
	for (size_t i = 0; i < json_array_size(list); i++) {
		struct job_phase *phase = job_add_phase(ret, NULL);

		if (read_phase(json_array_get(list, i), phase, err) < 0)
			return lab_error_wrap(err, "phase %zu", i);
		for (size_t j = 0; j < i; j++) {
			if (strcmp(ret->phases[j].name, phase->name) == 0)
				return lab_error_set(err, LAB_ERR_INVALID, "two phases named '%s'",
						     phase->name);
		}
	}
	return 0;
}

int job_from_json(const json_t *json, struct job *ret_job, struct lab_error *err)
{
	LAB_CLEANUP(job) struct job job = JOB_INIT;
	int64_t wait;

	if (!json_is_object(json))
		return lab_error_set(err, LAB_ERR_INVALID, "job: is not an object");
	if (read_name(json, "run", &job.run, err) < 0 ||
	    field_u64(json, "seed", &job.seed, err) < 0 ||
	    field_int(json, "wait_ns", 0, WAIT_MAX_NS, &wait, err) < 0 ||
	    read_mounts(json, &job, err) < 0 || read_settings(json, &job, err) < 0 ||
	    read_collect(json, &job.collect, err) < 0 || read_phases(json, &job, err) < 0)
		return lab_error_wrap(err, "job");
	job.wait_ns = (uint64_t)wait;
	*ret_job = job;
	job = (struct job)JOB_INIT;
	return 0;
}
