/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_BUILDER_REPO_IMPORT_H
#define LAB_BUILDER_REPO_IMPORT_H

/* A tarball's content as one commit without parents; internal. */

#include "builder/repo.h"

struct repo_imported {
	char commit[REPO_OID];
	char *version; /* of the kernel's Makefile, "6.1.172"; NULL when it tells none */
	uint64_t files;
	uint64_t bytes;
};

/*
 * Writes blobs and trees, and the commit, whose message, author and date are fixed, so
 * that it depends on the files alone. No reference is made. When it is stopped, what was
 * written stays and is found again by the next try.
 */
int repo_import(struct repo *repo, const char *tarball, const struct build_progress *progress,
		struct repo_imported *ret_imported, struct lab_error *err) LAB_MUST_CHECK;

/* "6.1.172-rc1" from the first lines of a kernel's Makefile, or NULL; caller frees. */
char *repo_makefile_version(const char *makefile);

#endif
