/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workloads/metric.h"

#include <string.h>

#include "common/mem.h"
#include "common/strv.h"

static const char *const reducers[] = {
	[METRIC_MEAN] = "mean", [METRIC_MAX] = "max",	  [METRIC_MIN] = "min",
	[METRIC_LAST] = "last", [METRIC_DELTA] = "delta",
};

static const struct {
	char direction;
	const char *name;
} directions[] = {{'+', "+"}, {'-', "-"}, {'0', "none"}};

struct metric *metric_add(struct metric_list *list, const char *name, const char *unit,
			  const char *kind)
{
	struct metric *m;

	LAB_GROW(list->items, list->n, list->cap);
	m = &list->items[list->n++];
	*m = (struct metric){
		.name = lab_strdup(name),
		.direction = '0',
		.unit = lab_strdup(unit),
		.kind = lab_strdup(kind),
		.reducer = METRIC_MEAN,
		.comparable = true,
		.scale = 1,
	};
	return m;
}

const struct metric *metric_find(const struct metric_list *list, const char *name)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->items[i].name, name) == 0)
			return &list->items[i];
	return NULL;
}

void metric_list_release(struct metric_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->items[i].name);
		free(list->items[i].unit);
		free(list->items[i].kind);
	}
	free(list->items);
	*list = (struct metric_list){0};
}

bool metric_is_timed(const struct metric *metric)
{
	return strcmp(metric->kind, "time") == 0;
}

const char *metric_reducer_name(enum metric_reducer reducer)
{
	return reducers[reducer];
}

int metric_reduce(const struct metric *metric, const double *values, size_t n, double *ret_value,
		  struct lab_error *err)
{
	double sum = 0, lowest, highest;

	if (!n)
		return lab_error_set(err, LAB_ERR_INVALID, "metric '%s' has no value",
				     metric->name);
	lowest = highest = values[0];
	for (size_t i = 0; i < n; i++) {
		sum += values[i];
		if (values[i] < lowest)
			lowest = values[i];
		if (values[i] > highest)
			highest = values[i];
	}
	switch (metric->reducer) {
	case METRIC_MEAN:
		*ret_value = sum / (double)n;
		break;
	case METRIC_MAX:
		*ret_value = highest;
		break;
	case METRIC_MIN:
		*ret_value = lowest;
		break;
	case METRIC_LAST:
		*ret_value = values[n - 1];
		break;
	case METRIC_DELTA:
		*ret_value = values[n - 1] - values[0];
		break;
	}
	return 0;
}

static const char *direction_name(char direction)
{
	for (size_t i = 0; i < LAB_COUNT(directions); i++)
		if (directions[i].direction == direction)
			return directions[i].name;
	return "none";
}

json_t *metric_list_to_json(const struct metric_list *list)
{
	json_t *array = json_array();

	for (size_t i = 0; i < list->n; i++) {
		const struct metric *m = &list->items[i];

		json_array_append_new(
			array, json_pack("{s:s, s:s, s:s, s:s, s:s, s:b, s:b}", "name", m->name,
					 "direction", direction_name(m->direction), "unit", m->unit,
					 "kind", m->kind, "reducer", reducers[m->reducer],
					 "comparable", m->comparable, "sampled", m->sampled));
	}
	return array;
}

static int metric_from_json(json_t *item, struct metric_list *list, struct lab_error *err)
{
	const char *name, *direction, *unit, *kind, *reducer;
	int comparable, sampled;
	struct metric *m;
	size_t d, r;

	if (json_unpack(item, "{s:s, s:s, s:s, s:s, s:s, s:b, s:b}", "name", &name, "direction",
			&direction, "unit", &unit, "kind", &kind, "reducer", &reducer, "comparable",
			&comparable, "sampled", &sampled))
		return lab_error_set(err, LAB_ERR_INVALID, "a metric lacks a member");
	for (d = 0; d < LAB_COUNT(directions); d++)
		if (strcmp(directions[d].name, direction) == 0)
			break;
	for (r = 0; r < LAB_COUNT(reducers); r++)
		if (strcmp(reducers[r], reducer) == 0)
			break;
	if (d == LAB_COUNT(directions) || r == LAB_COUNT(reducers))
		return lab_error_set(err, LAB_ERR_INVALID,
				     "metric '%s': unknown direction or reducer", name);
	if (metric_find(list, name))
		return lab_error_set(err, LAB_ERR_INVALID, "metric '%s' is there twice", name);
	m = metric_add(list, name, unit, kind);
	m->direction = directions[d].direction;
	m->reducer = (enum metric_reducer)r;
	m->comparable = comparable;
	m->sampled = sampled;
	return 0;
}

int metric_list_from_json(const json_t *json, struct metric_list *ret_list, struct lab_error *err)
{
	LAB_CLEANUP(metric_list) struct metric_list list = {0};

	if (!json_is_array(json))
		return lab_error_set(err, LAB_ERR_INVALID, "metrics are not a list");
	for (size_t i = 0; i < json_array_size(json); i++)
		if (metric_from_json(json_array_get(json, i), &list, err))
			return -1;
	*ret_list = list;
	list = (struct metric_list){0};
	return 0;
}

void metric_count_instructions(struct metric *metric)
{
	static const struct {
		const char *unit;
		double ns;
	} times[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
	size_t len = strlen(metric->unit);

	if (!metric_is_timed(metric))
		return;
	for (size_t i = 0; i < LAB_COUNT(times); i++) {
		if (strcmp(metric->unit, times[i].unit) != 0)
			continue;
		metric->scale = times[i].ns;
		free(metric->unit);
		metric->unit = lab_strdup("instructions");
		return;
	}
	if (lab_ends_with(metric->unit, "/s")) {
		char *unit = lab_asprintf("%.*s/Ginstr", (int)(len - 2), metric->unit);

		free(metric->unit);
		metric->unit = unit;
	}
}
