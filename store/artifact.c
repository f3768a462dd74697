/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/artifact.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/mem.h"
#include "store/draft.h"
#include "store/hash.h"
#include "store/internal.h"
#include "store/tree.h"

int artifact_content(const char *dir, char out[HASH_HEX], struct lab_error *err)
{
	return hash_tree_without(dir, ARTIFACT_LOG, out, err);
}

int artifact_verify(const struct artifact *a, struct lab_error *err)
{
	char content[HASH_HEX];

	if (artifact_content(a->path, content, err) < 0)
		return -1;
	if (strcmp(content, a->content) == 0)
		return 0;
	return lab_error_set(
		err, LAB_ERR_INVALID,
		"the %s %.*s is not what it was when it was made: somebody has changed "
		"%s; remove that directory and make it anew",
		a->kind, ARTIFACT_SHORT, a->key, a->path);
}

struct artifact *artifact_copy(const struct artifact *a)
{
	struct artifact *copy = LAB_NEW(struct artifact);

	*copy = *a;
	copy->kind = lab_strdup(a->kind);
	copy->key = lab_strdup(a->key);
	copy->content = lab_strdup(a->content);
	copy->path = lab_strdup(a->path);
	copy->label = lab_strdup(a->label);
	copy->manifest = lab_strdup(a->manifest);
	return copy;
}

void artifact_free(struct artifact *a)
{
	if (!a)
		return;
	free(a->kind);
	free(a->key);
	free(a->content);
	free(a->path);
	free(a->label);
	free(a->manifest);
	free(a);
}

void artifact_list_release(struct artifact_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		artifact_free(list->items[i]);
	free(list->items);
	*list = (struct artifact_list){0};
}

static struct artifact *from_row(const struct lab *lab, struct db_stmt *st)
{
	struct artifact *a = LAB_NEW(struct artifact);

	a->id = db_col_int(st, 0);
	a->kind = db_col_text(st, 1);
	a->key = db_col_text(st, 2);
	a->content = db_col_text(st, 3);
	a->label = db_col_text(st, 4);
	a->manifest = db_col_text(st, 5);
	a->created = db_col_int(st, 6);
	a->bytes = (uint64_t)db_col_int(st, 7);
	a->path = lab_path(lab, "artifacts/%s/%s", a->kind, a->key);
	return a;
}

/* The row, whether its directory is still there or not. */
static int find_row(struct lab *lab, const char *kind, const char *key, struct artifact **ret,
		    struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;
	int rc;

	if (db_prepare(lab->db, SQL_ARTIFACT_FIND, &st, err) < 0)
		return -1;
	db_text(st, kind);
	db_text(st, key);
	rc = db_step(st, err);
	if (rc < 0)
		return -1;
	*ret = rc ? from_row(lab, st) : NULL;
	return 0;
}

int artifact_find(struct lab *lab, const char *kind, const char *key, struct artifact **ret,
		  struct lab_error *err)
{
	struct artifact *a;

	if (find_row(lab, kind, key, &a, err) < 0)
		return -1;
	/* A directory that somebody deleted by hand has to be made again. */
	if (a && !lab_dir_exists(a->path)) {
		artifact_free(a);
		a = NULL;
	}
	*ret = a;
	return 0;
}

static int collect(struct lab *lab, struct db_stmt *st, struct artifact_list *list,
		   struct lab_error *err)
{
	int rc;

	while ((rc = db_step(st, err)) > 0) {
		struct artifact *a = from_row(lab, st);

		if (!lab_dir_exists(a->path)) {
			artifact_free(a);
			continue;
		}
		LAB_GROW(list->items, list->n, list->cap);
		list->items[list->n++] = a;
	}
	return rc;
}

static int ambiguous(const char *name, const struct artifact_list *list, struct lab_error *err)
{
	LAB_CLEANUP(buf) struct lab_buf names = LAB_BUF_INIT;

	for (size_t i = 0; i < list->n && i < 8; i++) {
		const struct artifact *a = list->items[i];

		lab_buf_addf(&names, "%s%s %.*s%s%s%s", i ? ", " : "", a->kind, ARTIFACT_SHORT,
			     a->key, *a->label ? " (" : "", a->label, *a->label ? ")" : "");
	}
	return lab_error_set(err, LAB_ERR_INVALID, "'%s' is one of %zu artifacts: %s%s", name,
			     list->n, names.data, list->n > 8 ? ", ..." : "");
}

int artifact_resolve(struct lab *lab, const char *kind, const char *name, struct artifact **ret,
		     struct lab_error *err)
{
	LAB_CLEANUP(artifact_list) struct artifact_list list = {0};
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;

	if (db_prepare(lab->db, SQL_ARTIFACT_RESOLVE, &st, err) < 0)
		return -1;
	db_text(st, kind);
	db_text(st, name);
	if (collect(lab, st, &list, err) < 0)
		return -1;
	if (list.n == 0)
		return lab_error_set(err, LAB_ERR_NOT_FOUND,
				     "no %s '%s' in the lab (`labctl list` shows what there is)",
				     kind ? kind : "artifact", name);
	if (list.n > 1)
		return ambiguous(name, &list, err);
	*ret = LAB_TAKE(list.items[0]);
	return 0;
}

int artifact_list(struct lab *lab, const char *kind, struct artifact_list *ret_list,
		  struct lab_error *err)
{
	LAB_CLEANUP(artifact_list) struct artifact_list list = {0};
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;

	if (db_prepare(lab->db, SQL_ARTIFACT_LIST, &st, err) < 0)
		return -1;
	db_text(st, kind);
	if (collect(lab, st, &list, err) < 0)
		return -1;
	*ret_list = list;
	list = (struct artifact_list){0};
	return 0;
}

static int remove_row(struct lab *lab, int64_t id, struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;

	if (db_prepare(lab->db, SQL_ARTIFACT_REMOVE, &st, err) < 0)
		return -1;
	db_int(st, id);
	return db_run(st, err);
}

/*
 * Between the row and the directory it may be killed: a directory without a row is a
 * leftover that lab_clean_leftovers removes, and the next commit of the key as well.
 */
int artifact_remove(struct lab *lab, const struct artifact *a, struct lab_error *err)
{
	if (lab_need_write(lab, err) < 0 || remove_row(lab, a->id, err) < 0)
		return -1;
	return lab_remove_tree(a->path, err);
}

static int add_row(struct lab *lab, const struct artifact *a, struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;

	if (db_prepare(lab->db, SQL_ARTIFACT_ADD, &st, err) < 0)
		return -1;
	db_text(st, a->kind);
	db_text(st, a->key);
	db_text(st, a->content);
	db_text(st, a->label);
	db_text(st, a->manifest);
	db_int(st, a->created);
	db_int(st, (int64_t)a->bytes);
	return db_run(st, err);
}

static int two_contents(const struct artifact *old, const struct artifact *new,
			const char *draft_dir, struct lab_error *err)
{
	LAB_CLEANUP(strv) struct lab_strv all = LAB_STRV_INIT;
	LAB_CLEANUP(strv) struct lab_strv names = LAB_STRV_INIT;
	LAB_CLEANUP(free) char *list = NULL;

	if (tree_differences(old->path, draft_dir, &all, err) < 0)
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		if (strcmp(all.items[i], ARTIFACT_LOG) != 0)
			lab_strv_add(&names, all.items[i]);
	}
	list = lab_strv_join(&names, ", ");
	return lab_error_set(err, LAB_ERR_FAILED,
			     "%s %.*s has two contents for one key: %.*s in %s, and %.*s as it "
			     "came out now; different: %.400s%s",
			     new->kind, ARTIFACT_SHORT, new->key, ARTIFACT_SHORT, old->content,
			     old->path, ARTIFACT_SHORT, new->content, list,
			     strlen(list) > 400 ? " ..." : "");
}

/* Inside the transaction: the row's answer to whether the key is already taken. */
static int check_same(struct lab *lab, const struct artifact *a, const char *draft_dir,
		      struct artifact **ret_same, struct lab_error *err)
{
	LAB_CLEANUP(artifact) struct artifact *old = NULL;

	if (find_row(lab, a->kind, a->key, &old, err) < 0)
		return -1;
	*ret_same = NULL;
	if (!old)
		return 0;
	if (!lab_dir_exists(old->path))
		return remove_row(lab, old->id, err);
	if (strcmp(old->content, a->content) != 0)
		return two_contents(old, a, draft_dir, err);
	*ret_same = LAB_TAKE(old);
	return 0;
}

/*
 * Rename and row happen under the database's write lock, so a directory without a row
 * that is seen here belongs to nobody alive. Killed after the rename, the transaction
 * is undone and the directory is such a leftover.
 */
static int publish(struct lab *lab, struct artifact_draft *draft, struct artifact *a,
		   struct artifact **ret_same, struct lab_error *err)
{
	LAB_CLEANUP(free) char *parent = lab_path(lab, "artifacts/%s", a->kind);

	if (check_same(lab, a, artifact_draft_dir(draft), ret_same, err) < 0)
		return -1;
	if (*ret_same)
		return 0;
	if (lab_mkdirs(parent, 0755, err) < 0 || lab_remove_tree(a->path, err) < 0)
		return -1;
	if (rename(artifact_draft_dir(draft), a->path) < 0)
		return lab_error_errno(err, errno, "rename to %s", a->path);
	if (tree_sync_dir(parent, err) < 0 || add_row(lab, a, err) < 0)
		return -1;
	return 0;
}

int artifact_commit(struct artifact_draft *draft, const char *label, const char *manifest,
		    struct artifact **ret, struct lab_error *err)
{
	LAB_CLEANUP(artifact) struct artifact *a = NULL;
	LAB_CLEANUP(artifact) struct artifact *same = NULL;
	struct lab *lab = draft_lab(draft);
	const char *dir = artifact_draft_dir(draft);
	char content[HASH_HEX];
	uint64_t bytes;

	if (json_object_text(manifest, "manifest", &manifest, err) < 0)
		return -1;
	/* The directory's mode is the draft's promise, whatever was extracted into it. */
	if (chmod(dir, 0755) < 0)
		return lab_error_errno(err, errno, "%s", dir);
	if (artifact_content(dir, content, err) < 0 || tree_bytes(dir, &bytes, err) < 0 ||
	    tree_sync(dir, err) < 0)
		return lab_error_wrap(err, "finish %s %.*s", draft_kind(draft), ARTIFACT_SHORT,
				      draft_key(draft));
	a = draft_describe(draft);
	a->content = lab_strdup(content);
	a->label = lab_strdup(label ? label : "");
	a->manifest = lab_strdup(manifest);
	a->created = lab_unix_time();
	a->bytes = bytes;
	if (lab_begin(lab, err) < 0)
		return -1;
	if (lab_end(lab, publish(lab, draft, a, &same, err), err) < 0)
		return -1;
	if (!same) {
		draft_published(draft);
		if (find_row(lab, a->kind, a->key, &same, err) < 0)
			return -1;
	}
	if (ret)
		*ret = LAB_TAKE(same);
	return 0;
}

/* Moves what has no row in artifacts/`kind` to artifacts/tmp, as a draft of nobody. */
static int move_orphans(struct lab *lab, const char *kind, unsigned *n, struct lab_error *err)
{
	LAB_CLEANUP(free) char *path = lab_path(lab, "artifacts/%s", kind);
	LAB_CLEANUP(dir) DIR *dir = opendir(path);
	const struct dirent *entry;

	if (!dir)
		return lab_error_errno(err, errno, "%s", path);
	while ((entry = readdir(dir))) {
		LAB_CLEANUP(artifact) struct artifact *a = NULL;
		LAB_CLEANUP(free) char *from = NULL;
		LAB_CLEANUP(free) char *to = NULL;

		if (entry->d_name[0] == '.')
			continue;
		if (find_row(lab, kind, entry->d_name, &a, err) < 0)
			return -1;
		if (a)
			continue;
		from = lab_path_join(path, entry->d_name);
		to = lab_path(lab, "artifacts/tmp/%s-%s.orphan", kind, entry->d_name);
		if (lab_remove_tree(to, err) < 0)
			return -1;
		if (rename(from, to) < 0)
			return lab_error_errno(err, errno, "rename %s", from);
		++*n;
	}
	return 0;
}

static int move_all_orphans(struct lab *lab, unsigned *ret_n, struct lab_error *err)
{
	LAB_CLEANUP(free) char *path = lab_path(lab, "artifacts");
	LAB_CLEANUP(dir) DIR *dir = opendir(path);
	const struct dirent *entry;

	if (!dir)
		return lab_error_errno(err, errno, "%s", path);
	while ((entry = readdir(dir))) {
		LAB_CLEANUP(free) char *sub = lab_path_join(path, entry->d_name);

		if (entry->d_name[0] == '.' || !strcmp(entry->d_name, "tmp") ||
		    !lab_dir_exists(sub))
			continue;
		if (move_orphans(lab, entry->d_name, ret_n, err) < 0)
			return -1;
	}
	return 0;
}

int artifact_clean_orphans(struct lab *lab, unsigned *ret_n, struct lab_error *err)
{
	unsigned n = 0;

	/* Under the write lock no publication is between its rename and its row. */
	if (lab_begin(lab, err) < 0)
		return -1;
	if (lab_end(lab, move_all_orphans(lab, &n, err), err) < 0)
		return -1;
	*ret_n = n;
	return 0;
}
