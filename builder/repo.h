/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_BUILDER_REPO_H
#define LAB_BUILDER_REPO_H

/*
 * One git repository, as the rest of builder/ sees it; internal. The repo*.c files are
 * the only ones that know libgit2. Object names are 40 hex digits.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "builder/progress.h"
#include "common/err.h"
#include "common/strv.h"

#define REPO_OID 41

struct repo;

/* Makes a bare repository; one that is there is kept. */
int repo_init(const char *path, struct lab_error *err) LAB_MUST_CHECK;
/*
 * Opens a repository of the lab. LAB_ERR_UNAVAILABLE names a reference whose objects
 * it borrows and that is gone.
 */
int repo_open(const char *path, struct repo **ret_repo, struct lab_error *err) LAB_MUST_CHECK;
/*
 * Opens somebody's repository, only to read from it: bare, a work tree or a linked one,
 * of any owner. Shallow and partial clones are refused with the cure.
 */
int repo_open_foreign(const char *path, struct repo **ret_repo,
		      struct lab_error *err) LAB_MUST_CHECK;
void repo_free(struct repo *repo);
LAB_DEFINE_CLEANUP(repo, struct repo, repo_free)

/* Where its objects lie; caller frees. */
char *repo_objects_dir(const struct repo *repo);
/* Makes the repository at `path` use these directories of objects in place. */
int repo_borrow(const char *path, const struct lab_strv *objects_dirs,
		struct lab_error *err) LAB_MUST_CHECK;
/* The directories that it borrows from. */
int repo_borrowed(const char *path, struct lab_strv *ret_dirs,
		  struct lab_error *err) LAB_MUST_CHECK;

/* ---- names and commits ---- */

/* The commit a full reference name leads to. 1: found, 0: no such reference, -1: error. */
int repo_ref(struct repo *repo, const char *ref, char oid[REPO_OID],
	     struct lab_error *err) LAB_MUST_CHECK;
int repo_set_ref(struct repo *repo, const char *ref, const char *oid,
		 struct lab_error *err) LAB_MUST_CHECK;
/* A reference to a reference: makes it, and where it leads (NULL: nowhere; caller frees). */
int repo_set_symbolic(struct repo *repo, const char *ref, const char *target,
		      struct lab_error *err) LAB_MUST_CHECK;
char *repo_symbolic(struct repo *repo, const char *ref);
int repo_delete_ref(struct repo *repo, const char *ref, struct lab_error *err) LAB_MUST_CHECK;
/* A commit by 4 to 40 hex digits. 1: found, 0: none, -1: error (several). */
int repo_commit(struct repo *repo, const char *hex, char oid[REPO_OID],
		struct lab_error *err) LAB_MUST_CHECK;
/* Goes from oid to what "~2", "^" or the like behind it means. */
int repo_ancestor(struct repo *repo, const char *suffix, char oid[REPO_OID],
		  struct lab_error *err) LAB_MUST_CHECK;
int repo_tree(struct repo *repo, const char *commit, char tree[REPO_OID],
	      struct lab_error *err) LAB_MUST_CHECK;
/* Every reference below `prefix` ("refs/"), full names in byte order. */
int repo_refs(struct repo *repo, const char *prefix, struct lab_strv *ret_names,
	      struct lab_error *err) LAB_MUST_CHECK;
/* 1: `ancestor` is `commit` or an ancestor of it, 0: it is not. */
int repo_is_ancestor(struct repo *repo, const char *ancestor, const char *commit,
		     struct lab_error *err) LAB_MUST_CHECK;
/* 1: found, 0: no common history. */
int repo_merge_base(struct repo *repo, const char *a, const char *b, char oid[REPO_OID],
		    struct lab_error *err) LAB_MUST_CHECK;

/* ---- history (repo_history.c) ---- */

struct repo_tag {
	char oid[REPO_OID]; /* commit */
	char *name;	    /* without refs/tags/ */
};

struct repo_tags {
	struct repo_tag *items; /* sorted by oid, then the shortest name first */
	size_t n, cap;
};

#define REPO_TAGS_INIT     \
	{                  \
		NULL, 0, 0 \
	}

/* Adds the tags that lead to commits; ends with them sorted. */
int repo_tags_add(struct repo *repo, struct repo_tags *tags, struct lab_error *err) LAB_MUST_CHECK;
/* The tag's name on this commit (borrowed) or NULL. */
const char *repo_tags_find(const struct repo_tags *tags, const char *oid);
void repo_tags_release(struct repo_tags *tags);

static inline void lab_cleanup_repo_tags(struct repo_tags *tags)
{
	repo_tags_release(tags);
}

struct repo_base {
	char oid[REPO_OID];
	const char *tag; /* borrowed from the tags; NULL: found on the branch */
};

/*
 * The nearest first-parent ancestor of `head` (not head itself) that has a tag or is
 * reachable from commit `branch` (NULL: none). 1: found, 0: the history ended first.
 */
int repo_find_base(struct repo *repo, const char *head, const struct repo_tags *tags,
		   const char *branch, struct repo_base *ret_base,
		   struct lab_error *err) LAB_MUST_CHECK;
/* Subjects of the commits of base..head, oldest first. */
int repo_subjects(struct repo *repo, const char *base, const char *head,
		  struct lab_strv *ret_subjects, struct lab_error *err) LAB_MUST_CHECK;

/* ---- remotes (repo_remote.c) ---- */

struct repo_remote;

struct repo_remote_ref {
	char oid[REPO_OID];
	char *name;
};

struct repo_fetched {
	unsigned objects; /* that had to come */
	uint64_t bytes;
	uint64_t ms;
};

/*
 * Connects to the remote and reads its references. `url` is a URL or a path.
 * LAB_ERR_UNAVAILABLE names the host that cannot be reached.
 */
int repo_remote_open(struct repo *repo, const char *url, const struct build_progress *progress,
		     struct repo_remote **ret_remote, struct lab_error *err) LAB_MUST_CHECK;
void repo_remote_free(struct repo_remote *remote);
LAB_DEFINE_CLEANUP(repo_remote, struct repo_remote, repo_remote_free)
/* Borrowed, in the remote's order. */
const struct repo_remote_ref *repo_remote_refs(const struct repo_remote *remote, size_t *ret_n);
const struct repo_remote_ref *repo_remote_find(const struct repo_remote *remote, const char *name);
/* Full name of the branch its HEAD is on; borrowed, NULL when it has none. */
const char *repo_remote_head(const struct repo_remote *remote);
/*
 * Brings these references ("+refs/x:refs/y") and the tags of what came. What is here
 * already, in borrowed objects too, is not sent again.
 */
int repo_remote_fetch(struct repo_remote *remote, const struct lab_strv *refspecs,
		      struct repo_fetched *ret_fetched, struct lab_error *err) LAB_MUST_CHECK;
/* True for what is no URL: a directory of this host ("file://" is stripped by the caller). */
bool repo_url_is_path(const char *url);

/* ---- trees ---- */

/*
 * Makes directory `dir` hold exactly tree `to`. `from` is the tree it holds now (only
 * the difference is written then) or NULL when that is not known.
 */
int repo_checkout(struct repo *repo, const char *dir, const char *from, const char *to,
		  const struct build_progress *progress, struct lab_error *err) LAB_MUST_CHECK;

/* Lines that differ between two trees in files whose base name begins with `prefix`. */
struct repo_hunk_line {
	const char *path;
	bool is_new;	 /* a line of tree b, else of tree a */
	unsigned number; /* 1-based */
};
typedef void repo_line_fn(void *ctx, const struct repo_hunk_line *line);
int repo_changed_lines(struct repo *repo, const char *tree_a, const char *tree_b,
		       const char *prefix, repo_line_fn *fn, void *ctx,
		       struct lab_error *err) LAB_MUST_CHECK;
/* Content of a file of a tree; 1: found, 0: no such file. Appends to buf. */
struct lab_buf;
int repo_file(struct repo *repo, const char *tree, const char *path, struct lab_buf *buf,
	      struct lab_error *err) LAB_MUST_CHECK;

#endif
