/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_EXPERIMENTS_ORIGIN_H
#define LAB_EXPERIMENTS_ORIGIN_H

/*
 * What an old campaign was made of, as far as it is still there: to run its runs again. Not
 * for other folders.
 */

#include <jansson.h>

#include "common/strv.h"
#include "experiments/runner.h"
#include "experiments/setup.h"
#include "store/artifact.h"

struct origin_kernel {
	char *name;
	char *path;	      /* of the bzImage */
	struct artifact *own; /* NULL: it came as a file */
	struct artifact *initramfs;
};

struct origin {
	char *experiment, *preset, *target, *identity;
	uint64_t seed;
	unsigned n;
	bool emulated;
	json_t *definition; /* resolved, of the campaign */
	struct artifact *image;
	struct origin_kernel *kernels;
	size_t n_kernels;
	struct run_kernel *given; /* the kernels as a request has them */
	struct lab_strv cells;
};

void origin_release(struct origin *o);
static inline void lab_cleanup_origin(struct origin *o)
{
	origin_release(o);
}

/*
 * Fills what stands in a campaign's own record: everything but image and kernels. Strings are
 * copied, the definition's reference is taken.
 */
int origin_init(struct origin *o, const char *experiment, const char *preset, const char *target,
		const char *identity, json_t *definition, struct lab_error *err) LAB_MUST_CHECK;
/* The campaign in this lab. An image, kernel or initramfs that is gone is an error that names it. */
int origin_of_campaign(struct lab *lab, int64_t id, struct origin *ret,
		       struct lab_error *err) LAB_MUST_CHECK;

/*
 * Plans and resolves the campaign once more. Of `request` the directories, the agent and
 * `connect` are read, and `experiment`; it is completed and must stay with `setup`.
 * *ret_differs says what is not as it was, by name, or is NULL; caller frees.
 */
int origin_resolve(struct origin *o, struct lab *lab, struct run_request *request,
		   const struct run_progress *progress, struct setup *setup, char **ret_differs,
		   struct lab_error *err) LAB_MUST_CHECK;

#endif
