/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_EXPERIMENTS_STAGES_H
#define LAB_EXPERIMENTS_STAGES_H

/*
 * What the runner asks of the stages before it, as a table: tests replace it, so
 * that everything about a campaign can be tried in milliseconds without libvirt,
 * libguestfs or a compiler.
 */

#include <stdbool.h>
#include <stdint.h>

#include "builder/build.h"
#include "common/err.h"
#include "store/artifact.h"
#include "store/lab.h"
#include "vmctl/target.h"

struct run_stages {
	const struct target *(*target)(const char *name); /* NULL when unknown */
	int (*build)(struct lab *lab, const struct build_request *request,
		     const struct build_progress *progress, struct build_result *ret_result,
		     struct lab_error *err);
	/* The root image of a recipe. */
	int (*image)(struct lab *lab, const char *recipe, void (*say)(void *ctx, const char *text),
		     void *ctx, struct artifact **ret_image, struct lab_error *err);
	/* `modules` is a directory of kernel modules or NULL. */
	int (*initramfs)(struct lab *lab, const char *agent, const char *kernel_key,
			 const char *modules, struct artifact **ret_initramfs,
			 struct lab_error *err);
	int (*overlay)(const char *base, const char *path, struct lab_error *err);
	/* Fills a volume of its own for one run. */
	int (*ext4)(const char *path, uint64_t bytes, struct lab_error *err);
	int (*swap)(const char *path, uint64_t bytes, struct lab_error *err);
};

extern const struct run_stages run_stages_real;

#endif
