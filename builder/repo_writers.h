/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_BUILDER_REPO_WRITERS_H
#define LAB_BUILDER_REPO_WRITERS_H

/*
 * Threads that hash, compress and write blobs while the caller unpacks: of an import's
 * time half goes into each. Objects are loose, at the fastest compression, not synced.
 */

#include <git2.h>

#include "common/err.h"

struct repo_writers;

int repo_writers_new(const char *objects_dir, struct repo_writers **ret_writers,
		     struct lab_error *err) LAB_MUST_CHECK;
/* Takes data over (malloc); waits while much is queued. *oid is set once finish returned. */
int repo_writers_add(struct repo_writers *writers, void *data, size_t len, git_oid *oid,
		     struct lab_error *err) LAB_MUST_CHECK;
/* Waits until all is written; the first failure of any thread comes out here or in add. */
int repo_writers_finish(struct repo_writers *writers, struct lab_error *err) LAB_MUST_CHECK;
void repo_writers_free(struct repo_writers *writers);
LAB_DEFINE_CLEANUP(repo_writers, struct repo_writers, repo_writers_free)

#endif
