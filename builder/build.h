/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_BUILDER_BUILD_H
#define LAB_BUILDER_BUILD_H

/*
 * From a patchset to two kernels: A without it (its base) and B with it.
 *
 * A kernel artifact holds bzImage, System.map, config, manifest.json, modules/
 * (lib/modules/RELEASE/..., when the config has any), functions.tsv (the directory that each
 * function comes from), kernel.tar.zst: the first three, the modules and vmlinux in one file
 * to be handed on, and build.log. All of it is the same
 * whenever and wherever its key is built, but for the log.
 *
 * manifest.json: commit, tree (hex), release ("6.1.172"), arch, base_config, config_hash,
 * compiler, flags, build_id (GNU build id of vmlinux in lower-case hex, as
 * /sys/kernel/notes of the running kernel says), image_hash, modules_hash,
 * left_to_default [symbols], optional_dropped [symbols]. The artifact's manifest in the
 * lab has these and source, log (its name in the artifact), objects, incremental (built from
 * what another build left), ccache {hits, total} or null, cpu_s, wall_ms.
 */

#include <stdbool.h>
#include <stdint.h>

#include "builder/config_diff.h"
#include "builder/progress.h"
#include "common/err.h"

struct lab;
struct artifact; /* store/artifact.h */
struct patchset; /* store/patchset.h */

/* Lists end with NULL; a NULL list is empty. Strings are borrowed for the call. */
struct build_request {
	/* Named source, or NULL: the first one, in order of addition, that has the spec. */
	const char *source;
	const char *spec;	      /* ref, branch, tag, commit or range "A..B" */
	const char *base;	      /* commit, tag or branch that arm A is; NULL: found */
	const char *base_config;      /* "tiny" or the path of a config file; NULL: "tiny" */
	const char *fragments_dir;    /* where tiny.config lies */
	const char *const *fragments; /* paths of config fragments */
	const char *const *config;    /* "CONFIG_X=y" or "X=y"; "?" at the end: may be dropped */
	const char *const *required;  /* the same, asked for by the target */
	unsigned jobs;		      /* 0: one for each processor */
	bool use_ccache;	      /* when it is installed */
};

struct build_arm {
	struct artifact *kernel;
	char *name;  /* "v6.1.172", "v6.1.172 + 2" */
	bool cached; /* was there already: the figures below are then those of its build */
	uint64_t ms;
	double cpu_s; /* user and system, of make and its children */
	unsigned objects;
	unsigned ccache_hits, ccache_total; /* both 0 without ccache */
};

struct build_result {
	struct patchset *patchset;
	struct build_arm a, b;
	struct config_diff diff; /* of the two final configs */
};

/*
 * Resolves, configures and builds, or finds, both kernels, and stores the patchset's row.
 * Errors name the source, the symbol or the file at fault and the log's path. Two kernels
 * that come out equal are an error. The caller holds the lab's lock.
 */
int build_patchset(struct lab *lab, const struct build_request *request,
		   const struct build_progress *progress, struct build_result *ret_result,
		   struct lab_error *err) LAB_MUST_CHECK;
void build_result_release(struct build_result *result);

static inline void lab_cleanup_build_result(struct build_result *result)
{
	build_result_release(result);
}

#endif
