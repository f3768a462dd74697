/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_BUILDER_REPO_GIT_H
#define LAB_BUILDER_REPO_GIT_H

/* What the repo*.c files share: libgit2's types, and its errors turned into ours. */

#include <git2.h>

#include "builder/repo.h"

git_repository *repo_handle(const struct repo *repo);

/* Every use of libgit2 lies between these two; they nest. */
int repo_library_begin(struct lab_error *err) LAB_MUST_CHECK;
void repo_library_end(void);

/*
 * Sets err to "fmt: what libgit2 said last". `code` is what it returned: GIT_EUSER is our
 * own callback asking for the end, GIT_ENOTFOUND a thing that is not there. Returns -1.
 */
int repo_error(struct lab_error *err, int code, const char *fmt, ...) LAB_PRINTF(3, 4);

int repo_oid(git_oid *oid, const char *hex, struct lab_error *err) LAB_MUST_CHECK;
int repo_lookup_tree(struct repo *repo, const char *hex, git_tree **ret_tree,
		     struct lab_error *err) LAB_MUST_CHECK;

/* A file that differs between two trees; mode 0: it is not there on that side. */
struct repo_delta {
	const char *path;
	git_filemode_t old_mode, new_mode;
	git_oid old_oid, new_oid;
};
typedef int repo_delta_fn(void *ctx, const struct repo_delta *delta, struct lab_error *err);
/*
 * Calls fn for each of them, in no order that is promised. git_diff_tree_to_tree() looks at
 * all files of both trees; this goes only into directories that differ.
 */
int repo_diff_trees(struct repo *repo, const git_tree *a, const git_tree *b, repo_delta_fn *fn,
		    void *ctx, struct lab_error *err) LAB_MUST_CHECK;

LAB_DEFINE_CLEANUP(git_repository, git_repository, git_repository_free)
LAB_DEFINE_CLEANUP(git_reference, git_reference, git_reference_free)
LAB_DEFINE_CLEANUP(git_object, git_object, git_object_free)
LAB_DEFINE_CLEANUP(git_commit, git_commit, git_commit_free)
LAB_DEFINE_CLEANUP(git_tree, git_tree, git_tree_free)
LAB_DEFINE_CLEANUP(git_blob, git_blob, git_blob_free)
LAB_DEFINE_CLEANUP(git_odb, git_odb, git_odb_free)
LAB_DEFINE_CLEANUP(git_odb_object, git_odb_object, git_odb_object_free)
LAB_DEFINE_CLEANUP(git_revwalk, git_revwalk, git_revwalk_free)
LAB_DEFINE_CLEANUP(git_remote, git_remote, git_remote_free)
LAB_DEFINE_CLEANUP(git_signature, git_signature, git_signature_free)
LAB_DEFINE_CLEANUP(git_treebuilder, git_treebuilder, git_treebuilder_free)
LAB_DEFINE_CLEANUP(git_tree_entry, git_tree_entry, git_tree_entry_free)
LAB_DEFINE_CLEANUP(git_index, git_index, git_index_free)
LAB_DEFINE_CLEANUP(git_reference_iterator, git_reference_iterator, git_reference_iterator_free)

#endif
