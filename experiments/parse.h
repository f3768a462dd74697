/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_EXPERIMENTS_PARSE_H
#define LAB_EXPERIMENTS_PARSE_H

/* Parts of reading a definition that several files share. Not for other folders. */

#include "config/schema.h"
#include "experiments/definition.h"

/* Names of variants, levels, factors, presets: [A-Za-z0-9][A-Za-z0-9_.+-]*, 32 at most. */
int parse_name(const struct config_node *map, size_t i, const char *what, const char *name,
	       struct lab_error *err) LAB_MUST_CHECK;

/* Reads a checked "settings" map; a NULL node gives none. */
void parse_settings(const struct config_node *node, struct experiment_settings *settings);

/* Options of one phase, against its workload's table; a NULL node gives an empty object. */
int parse_options(const struct config_node *node, const char *workload, json_t **ret_options,
		  struct lab_error *err) LAB_MUST_CHECK;
/* {PHASE: {option: value}}; the phases are read already. NULL gives an empty object. */
int parse_phase_options(const struct config_node *node, const struct experiment *experiment,
			json_t **ret_options, struct lab_error *err) LAB_MUST_CHECK;

int parse_variants(const struct config_node *node, struct experiment *experiment,
		   struct lab_error *err) LAB_MUST_CHECK;
int parse_factors(const struct config_node *node, struct experiment *experiment,
		  struct lab_error *err) LAB_MUST_CHECK;
int parse_phases(const struct config_node *node, struct experiment *experiment,
		 struct lab_error *err) LAB_MUST_CHECK;
int parse_presets(const struct config_node *node, struct experiment *experiment,
		  struct lab_error *err) LAB_MUST_CHECK;

extern const struct config_key settings_keys[];

#endif
