/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What differs between two trees, and files out of one. */
#include <string.h>

#include "builder/repo_git.h"
#include "common/buf.h"
#include "common/file.h"

struct lines {
	const char *prefix;
	repo_line_fn *fn;
	void *ctx;
};

static int on_line(const git_diff_delta *delta, const git_diff_hunk *hunk,
		   const git_diff_line *line, void *payload)
{
	const struct lines *lines = payload;
	struct repo_hunk_line out;

	(void)hunk;
	if (line->origin != GIT_DIFF_LINE_ADDITION && line->origin != GIT_DIFF_LINE_DELETION)
		return 0;
	out.is_new = line->origin == GIT_DIFF_LINE_ADDITION;
	out.path = out.is_new ? delta->new_file.path : delta->old_file.path;
	out.number = (unsigned)(out.is_new ? line->new_lineno : line->old_lineno);
	lines->fn(lines->ctx, &out);
	return 0;
}

/* Leaves files of other names out before their content is looked at. */
static int on_delta(const git_diff *so_far, const git_diff_delta *delta, const char *pathspec,
		    void *payload)
{
	const struct lines *lines = payload;

	(void)so_far;
	(void)pathspec;
	return lab_starts_with(lab_path_base(delta->new_file.path), lines->prefix) ||
			       lab_starts_with(lab_path_base(delta->old_file.path), lines->prefix)
		       ? 0
		       : 1;
}

int repo_changed_lines(struct repo *repo, const char *tree_a, const char *tree_b,
		       const char *prefix, repo_line_fn *fn, void *ctx, struct lab_error *err)
{
	LAB_CLEANUP(git_tree) git_tree *a = NULL;
	LAB_CLEANUP(git_tree) git_tree *b = NULL;
	LAB_CLEANUP(git_diff) git_diff *diff = NULL;
	git_diff_options options = GIT_DIFF_OPTIONS_INIT;
	struct lines lines = {prefix, fn, ctx};
	int rc;

	if (repo_lookup_tree(repo, tree_a, &a, err) < 0 ||
	    repo_lookup_tree(repo, tree_b, &b, err) < 0)
		return -1;
	options.context_lines = 0;
	options.flags = GIT_DIFF_FORCE_TEXT;
	options.notify_cb = on_delta;
	options.payload = &lines;
	rc = git_diff_tree_to_tree(&diff, repo_handle(repo), a, b, &options);
	if (rc == 0)
		rc = git_diff_foreach(diff, NULL, NULL, NULL, on_line, &lines);
	return rc < 0 ? repo_error(err, rc, "compare trees") : 0;
}

int repo_file(struct repo *repo, const char *tree, const char *path, struct lab_buf *buf,
	      struct lab_error *err)
{
	LAB_CLEANUP(git_tree) git_tree *root = NULL;
	LAB_CLEANUP(git_tree_entry) git_tree_entry *entry = NULL;
	LAB_CLEANUP(git_blob) git_blob *blob = NULL;
	int rc;

	if (repo_lookup_tree(repo, tree, &root, err) < 0)
		return -1;
	rc = git_tree_entry_bypath(&entry, root, path);
	if (rc == GIT_ENOTFOUND || (rc == 0 && git_tree_entry_type(entry) != GIT_OBJECT_BLOB))
		return 0;
	if (rc == 0)
		rc = git_blob_lookup(&blob, repo_handle(repo), git_tree_entry_id(entry));
	if (rc < 0)
		return repo_error(err, rc, "%s", path);
	lab_buf_add(buf, git_blob_rawcontent(blob), (size_t)git_blob_rawsize(blob));
	return 1;
}
