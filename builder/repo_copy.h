/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_BUILDER_REPO_COPY_H
#define LAB_BUILDER_REPO_COPY_H

/*
 * Copies an object and all it needs from one repository into another. What is there
 * already is taken to be complete, since everything is written after what it needs: so
 * only the news is read, and an interrupted copy goes on where it stopped.
 */

#include "builder/repo.h"

struct repo_copy;

int repo_copy_new(struct repo *from, struct repo *to, const struct build_progress *progress,
		  struct repo_copy **ret_copy, struct lab_error *err) LAB_MUST_CHECK;
void repo_copy_free(struct repo_copy *copy);
LAB_DEFINE_CLEANUP(repo_copy, struct repo_copy, repo_copy_free)

int repo_copy_object(struct repo_copy *copy, const char *oid, struct lab_error *err) LAB_MUST_CHECK;
/* What was really copied, bytes before compression. */
void repo_copy_count(const struct repo_copy *copy, unsigned *ret_objects, uint64_t *ret_bytes);

#endif
