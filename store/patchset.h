/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_STORE_PATCHSET_H
#define LAB_STORE_PATCHSET_H

/* Patchsets that were built, with the base they stand on and their two kernels. */

#include <stddef.h>
#include <stdint.h>

#include "common/cleanup.h"
#include "common/err.h"
#include "store/lab.h"

struct patchset {
	int64_t id;
	char *source;	 /* name */
	char *spec;	 /* as the user gave it: a ref, commit or range */
	char *base;	 /* commit id */
	char *base_name; /* "v5.14", or a short commit id */
	char *base_how;	 /* how it was found, in words: "nearest tag under the change" */
	char *head;	 /* commit id */
	int commits;
	char *subjects; /* JSON array of strings, oldest first */
	char *kernel_a; /* artifact keys */
	char *kernel_b;
	int64_t created; /* when it was last asked for */
};

void patchset_free(struct patchset *p);
LAB_DEFINE_CLEANUP(patchset, struct patchset, patchset_free)

struct patchset_list {
	struct patchset **items;
	size_t n;
	size_t cap;
};

void patchset_list_release(struct patchset_list *list);

static inline void lab_cleanup_patchset_list(struct patchset_list *list)
{
	patchset_list_release(list);
}

/*
 * Records a patchset as the one built last. The same source, spec, base, head and
 * kernels again is the same patchset with a new `created`. p->id and created are
 * not read; ret_id may be NULL.
 */
int patchset_put(struct lab *lab, const struct patchset *p, int64_t *ret_id,
		 struct lab_error *err) LAB_MUST_CHECK;
/* The one built last; LAB_ERR_NOT_FOUND says that nothing was built yet. */
int patchset_latest(struct lab *lab, struct patchset **ret, struct lab_error *err) LAB_MUST_CHECK;
/*
 * The newest whose spec is `what`, whose head begins with it (7 digits or more), or
 * whose id is that number. LAB_ERR_NOT_FOUND names the command that builds it.
 */
int patchset_find(struct lab *lab, const char *what, struct patchset **ret,
		  struct lab_error *err) LAB_MUST_CHECK;
/* Oldest first. */
int patchset_list(struct lab *lab, struct patchset_list *ret_list,
		  struct lab_error *err) LAB_MUST_CHECK;

#endif
