/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_EXPERIMENTS_SETTINGS_H
#define LAB_EXPERIMENTS_SETTINGS_H

/* Lists of guest settings: the experiment's, then the variant's, then the levels'. */

#include <stdbool.h>

#include "experiments/definition.h"

/* Adds a setting, or replaces the value of the one with this kind and key. */
void settings_put(struct experiment_settings *settings, const char *kind, const char *key,
		  const char *value);
/* Puts all of `from`, in order. */
void settings_put_all(struct experiment_settings *settings, const struct experiment_settings *from);
bool settings_equal(const struct experiment_settings *a, const struct experiment_settings *b);
/* [{kind, key, value}, ...]; new reference. */
json_t *settings_to_json(const struct experiment_settings *settings);
void settings_release(struct experiment_settings *settings);

static inline void lab_cleanup_settings(struct experiment_settings *settings)
{
	settings_release(settings);
}

#endif
