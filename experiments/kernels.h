/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_EXPERIMENTS_KERNELS_H
#define LAB_EXPERIMENTS_KERNELS_H

/* Which kernels the variants boot: from a patchset, from artifacts, from files. */

#include "common/err.h"
#include "common/strv.h"
#include "store/artifact.h"
#include "store/patchset.h"

struct kernel {
	char *name;	/* "A", as the variants call it */
	char *bzimage;	/* absolute path */
	char *key;	/* of the artifact, or "file:" and the content */
	char *content;	/* hash */
	char *label;	/* for people */
	char *build_id; /* in hex, NULL when not known: then any is accepted */
	char *config;	/* path of its .config, or NULL when not known */
	char *modules;	/* for initramfs_ensure, or NULL */
	struct artifact *initramfs;
	char *initramfs_path; /* of its file */
};

struct kernel_set {
	struct kernel *items;
	size_t n, cap;
	struct patchset *patchset; /* or NULL with --kernel */
};

struct setup;
struct run_kernel;
struct run_request;

/*
 * Fills the set with the kernels that the setup's variants name, building the patchset
 * when it was not built yet, and says where they come from. Their configs are checked
 * against the definition and the target: missing symbols are named.
 */
int kernels_resolve(const struct setup *setup, struct kernel_set *ret_set,
		    struct lab_error *err) LAB_MUST_CHECK;
/* What the request says of a kernel, or NULL. */
const struct run_kernel *kernel_given(const struct run_request *request, const char *name);
const struct kernel *kernel_find(const struct kernel_set *set, const char *name);
void kernel_set_release(struct kernel_set *set);

/* "6.1.0-37-cloud-amd64", from the header of a bzImage (Documentation/arch/x86/boot.rst). */
int kernel_release(const char *bzimage, char **ret_release, struct lab_error *err) LAB_MUST_CHECK;

/*
 * The first symbol of `wanted` ("CONFIG_X=y", "X=y"; one that ends in "?" is optional) that
 * a .config does not have, or NULL when all are there. With `modules`, =m does for =y.
 * *ret_missing is borrowed from wanted.
 */
int kernel_config_missing(const char *config, const char *const *wanted, bool modules,
			  struct lab_strv *ret_missing, struct lab_error *err) LAB_MUST_CHECK;

static inline void lab_cleanup_kernel_set(struct kernel_set *set)
{
	kernel_set_release(set);
}

#endif
