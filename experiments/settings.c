/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiments/settings.h"

#include <string.h>

#include "common/mem.h"

static struct experiment_setting *settings_find(const struct experiment_settings *settings,
						const char *kind, const char *key)
{
	for (size_t i = 0; i < settings->n; i++)
		if (strcmp(settings->items[i].kind, kind) == 0 &&
		    strcmp(settings->items[i].key, key) == 0)
			return &settings->items[i];
	return NULL;
}

void settings_put(struct experiment_settings *settings, const char *kind, const char *key,
		  const char *value)
{
	struct experiment_setting *s = settings_find(settings, kind, key);

	if (s) {
		free(s->value);
		s->value = lab_strdup(value);
		return;
	}
	LAB_GROW(settings->items, settings->n, settings->cap);
	settings->items[settings->n++] = (struct experiment_setting){
		.kind = lab_strdup(kind), .key = lab_strdup(key), .value = lab_strdup(value)};
}

void settings_put_all(struct experiment_settings *settings, const struct experiment_settings *from)
{
	for (size_t i = 0; i < from->n; i++)
		settings_put(settings, from->items[i].kind, from->items[i].key,
			     from->items[i].value);
}

bool settings_equal(const struct experiment_settings *a, const struct experiment_settings *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		const struct experiment_setting *s =
			settings_find(b, a->items[i].kind, a->items[i].key);

		if (!s || strcmp(s->value, a->items[i].value) != 0)
			return false;
	}
	return true;
}

json_t *settings_to_json(const struct experiment_settings *settings)
{
	json_t *list = json_array();

	for (size_t i = 0; i < settings->n; i++)
		json_array_append_new(
			list, json_pack("{s:s, s:s, s:s}", "kind", settings->items[i].kind, "key",
					settings->items[i].key, "value", settings->items[i].value));
	return list;
}

void settings_release(struct experiment_settings *settings)
{
	for (size_t i = 0; i < settings->n; i++) {
		free(settings->items[i].kind);
		free(settings->items[i].key);
		free(settings->items[i].value);
	}
	free(settings->items);
	*settings = (struct experiment_settings){0};
}
