/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/sample.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/mem.h"

static struct sample_value *lookup(const struct sample *s, const char *metric)
{
	for (size_t i = 0; i < s->n; i++) {
		if (strcmp(s->items[i].metric, metric) == 0)
			return &s->items[i];
	}
	return NULL;
}

static struct sample_value *add_metric(struct sample *s, const char *metric)
{
	struct sample_value *item;

	LAB_GROW(s->items, s->n, s->cap);
	item = &s->items[s->n++];
	*item = (struct sample_value){.metric = lab_strdup(metric)};
	return item;
}

static int add(struct sample *s, const char *metric, double value, const int64_t *t_ns)
{
	struct sample_value *item;
	size_t cap;

	if (!isfinite(value))
		return -1;
	item = lookup(s, metric);
	if (item && item->n && (item->t_ns != NULL) != (t_ns != NULL))
		return -1;
	if (!item)
		item = add_metric(s, metric);
	cap = item->cap;
	LAB_GROW(item->values, item->n, item->cap);
	if (t_ns && cap != item->cap)
		item->t_ns = lab_realloc(item->t_ns, item->cap, sizeof(*item->t_ns));
	if (t_ns)
		item->t_ns[item->n] = *t_ns;
	item->values[item->n++] = value;
	return 0;
}

int sample_add(struct sample *s, const char *metric, double value)
{
	return add(s, metric, value, NULL);
}

int sample_add_at(struct sample *s, const char *metric, double value, int64_t t_ns)
{
	return add(s, metric, value, &t_ns);
}

const struct sample_value *sample_find(const struct sample *s, const char *metric)
{
	return lookup(s, metric);
}

void sample_release(struct sample *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->items[i].metric);
		free(s->items[i].values);
		free(s->items[i].t_ns);
	}
	free(s->items);
	*s = (struct sample)SAMPLE_INIT;
}
