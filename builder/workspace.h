/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_BUILDER_WORKSPACE_H
#define LAB_BUILDER_WORKSPACE_H

/*
 * Where a source's kernels are built, LAB/work/SOURCE: one work tree and beside it one
 * directory of objects, used for every arm, so that the second one is incremental and
 * both see the same paths. All of it can be thrown away at any time. Internal.
 *
 *   tree/        the source tree
 *   tree.id      the tree object that tree/ holds, exactly; absent while that changes
 *   obj/         make's O=
 *   obj.busy     there while make works; left behind, it says that make was killed
 *   build-A.log  what make said last for that arm
 */

#include "builder/progress.h"
#include "builder/repo.h"
#include "common/err.h"

struct lab;

struct workspace {
	char *dir;
	char *tree;
	char *obj;
	bool fresh; /* obj/ was empty when the workspace was opened */
};

/*
 * Makes the directories. Compilers that a killed labctl left running there are ended,
 * and objects that a killed make left are removed, for the last ones may be torn.
 */
int workspace_open(struct lab *lab, const char *source, struct workspace *ret_ws,
		   struct lab_error *err) LAB_MUST_CHECK;
void workspace_release(struct workspace *ws);

static inline void lab_cleanup_workspace(struct workspace *ws)
{
	workspace_release(ws);
}

/*
 * Brings tree/ to this tree object; only files that differ are written. A tree/ that
 * somebody has changed (anything in it newer than tree.id) is made anew.
 */
int workspace_checkout(const struct workspace *ws, struct repo *repo, const char *tree,
		       const struct build_progress *progress, struct lab_error *err) LAB_MUST_CHECK;

/* Around make: a build that does not come to _end_build left torn files. */
int workspace_begin_build(const struct workspace *ws, struct lab_error *err) LAB_MUST_CHECK;
int workspace_end_build(const struct workspace *ws, struct lab_error *err) LAB_MUST_CHECK;

char *workspace_log(const struct workspace *ws, const char *arm); /* caller frees */

/* The variable that marks every process of a build in this workspace: "LABCTL_BUILD=..." */
char *workspace_mark(const struct workspace *ws); /* caller frees */

#endif
