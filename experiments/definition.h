/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_EXPERIMENTS_DEFINITION_H
#define LAB_EXPERIMENTS_DEFINITION_H

/*
 * An experiment as its definition file says it: plain data, checked. Nothing is
 * resolved here (no kernel, image or machine is looked at). Every error carries
 * FILE:LINE:COLUMN. The format is described in docs/ and by the schema in
 * definition.c.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "common/err.h"
#include "common/strv.h"

/* One guest setting: "sysctl" of a dotted name, or "write" to a file. */
struct experiment_setting {
	char *kind;
	char *key;
	char *value;
};

struct experiment_settings {
	struct experiment_setting *items;
	size_t n, cap;
};

/* One arm: which kernel it boots and what is different around it. */
struct experiment_variant {
	char *name;
	char *kernel;  /* "A", "B": an arm of the patchset or of --kernel */
	char *cmdline; /* "" when it adds nothing */
	struct experiment_settings settings;
};

/* One level of a factor: what it changes, by phase, and in the guest. */
struct experiment_level {
	char *name;
	json_t *options; /* {PHASE: {option: value}}, never NULL */
	struct experiment_settings settings;
};

struct experiment_factor {
	char *name;
	struct experiment_level *levels;
	size_t n;
};

/* One phase of a boot; the one named "run" is measured (protocol/job.h). */
struct experiment_phase {
	char *name;
	char *workload;
	json_t *options;     /* as given, checked, without defaults; never NULL */
	uint64_t timeout_ms; /* of each of its steps; 0: the total deadline alone */
};

struct experiment_collect {
	uint64_t interval_ms; /* 0: no series; a preset may say something else */
	struct lab_strv series;
	struct lab_strv snapshots;
};

/* In milliseconds, for a machine that is not emulated (the runner stretches them). */
struct experiment_deadlines {
	uint64_t boot;	    /* start to hello */
	uint64_t heartbeat; /* silence after which the guest hangs */
	uint64_t progress;  /* heartbeats without progress after which it is stalled */
	uint64_t total;	    /* start to done */
	uint64_t poweroff;  /* asked to gone; then it is destroyed */
};

struct experiment_preset {
	char *name;
	char *title;
	uint64_t memory; /* bytes */
	unsigned vcpus;
	uint64_t data;	      /* bytes of the data drive, 0: none */
	uint64_t swap;	      /* bytes of the swap drive, 0: none */
	unsigned n;	      /* boots of each arm in each cell */
	uint64_t interval_ms; /* between samples: its own, else what `collect` says */
	json_t *options;      /* {PHASE: {option: value}} over the phases' own, never NULL */
	struct experiment_deadlines deadlines;
};

struct experiment {
	char *name; /* the file's name without .yaml */
	char *path;
	char *title;
	char *method;		   /* where the method comes from, or NULL */
	char *image;		   /* name or path of the image recipe */
	char *target;		   /* default target */
	bool sync_storage;	   /* exact: disks without the modelled delay */
	char *patchset;		   /* default patchset, or NULL */
	bool aa;		   /* equal variants are meant */
	char *base_config;	   /* of the kernels, or NULL for the builder's default */
	struct lab_strv fragments; /* config fragments of every kernel */
	struct lab_strv config;	   /* "CONFIG_X=y" of every kernel */
	char *cmdline;		   /* of every variant, "" for none */
	char *cpu_model;	   /* or NULL for the target's default */
	struct experiment_settings settings;
	struct experiment_variant *variants;
	size_t n_variants;
	struct experiment_factor *factors;
	size_t n_factors;
	struct experiment_phase *phases;
	size_t n_phases;
	struct experiment_collect collect;
	struct lab_strv metrics; /* names to keep; empty: all of the drivers */
	struct experiment_preset *presets;
	size_t n_presets;
};

/*
 * NAME.yaml in `data_dir`, else NAME as a path (when it has a slash or ends in
 * .yaml). An unknown name lists the nearest one. data_dir may be NULL.
 */
int experiment_find(const char *data_dir, const char *name, struct experiment **ret_experiment,
		    struct lab_error *err) LAB_MUST_CHECK;
int experiment_load(const char *path, struct experiment **ret_experiment,
		    struct lab_error *err) LAB_MUST_CHECK;
/* The same from memory; `name` stands in messages and becomes path. */
int experiment_parse(const char *name, const char *text, size_t len,
		     struct experiment **ret_experiment, struct lab_error *err) LAB_MUST_CHECK;
void experiment_free(struct experiment *experiment);

/* The names of the definitions in data_dir, sorted; a missing directory gives none. */
int experiment_list(const char *data_dir, struct lab_strv *names,
		    struct lab_error *err) LAB_MUST_CHECK;

/*
 * The preset of that name; NULL means the definition's first one. An unknown name
 * is a usage error that lists the known ones. Borrowed.
 */
const struct experiment_preset *experiment_preset(const struct experiment *experiment,
						  const char *name, struct lab_error *err);

LAB_DEFINE_CLEANUP(experiment, struct experiment, experiment_free)

#endif
