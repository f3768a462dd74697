/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_BUILDER_KERNEL_H
#define LAB_BUILDER_KERNEL_H

/* One kernel: its key, building it, its artifact. Internal. */

#include "builder/build.h"
#include "builder/configure.h"
#include "builder/resolve.h"
#include "store/artifact.h"
#include "store/hash.h"

struct kernel_inputs {
	const char *arm;    /* "A", "B" */
	const char *label;  /* "v6.1.172 + 2" */
	const char *source; /* name */
	const char *commit;
	const char *tree;
	const struct config_plan *plan;
	const char *toolchain;
};

/* The artifact's key: a hash of all that decides the kernel, known without any work. */
void kernel_key(const struct kernel_inputs *in, char key[HASH_HEX]);

/* Checks out, configures, builds and stores it; ret_arm gets kernel and figures. */
int kernel_build(struct lab *lab, const struct kernel_inputs *in, struct repo *repo,
		 const struct workspace *ws, const struct build_request *request,
		 const struct build_progress *progress, struct build_arm *ret_arm,
		 struct lab_error *err) LAB_MUST_CHECK;

/* Fills the figures of an arm from a stored kernel's manifest. */
int kernel_figures(struct build_arm *arm, struct lab_error *err) LAB_MUST_CHECK;

/* 1: both would run the very same code (image and modules), 0: they differ. */
int kernel_same_code(const struct artifact *a, const struct artifact *b,
		     struct lab_error *err) LAB_MUST_CHECK;

#endif
