/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/repo_copy.h"

#include "builder/repo_git.h"
#include "common/mem.h"

struct repo_copy {
	git_repository *from;
	git_odb *from_odb;
	git_odb *to_odb;
	const struct build_progress *progress;
	unsigned objects;
	uint64_t bytes;
};

int repo_copy_new(struct repo *from, struct repo *to, const struct build_progress *progress,
		  struct repo_copy **ret_copy, struct lab_error *err)
{
	LAB_CLEANUP(repo_copy) struct repo_copy *copy = LAB_NEW(struct repo_copy);
	int rc;

	copy->progress = progress;
	copy->from = repo_handle(from);
	rc = git_repository_odb(&copy->from_odb, copy->from);
	if (rc == 0)
		rc = git_repository_odb(&copy->to_odb, repo_handle(to));
	if (rc < 0)
		return repo_error(err, rc, "object database");
	*ret_copy = LAB_TAKE(copy);
	return 0;
}

void repo_copy_free(struct repo_copy *copy)
{
	if (!copy)
		return;
	git_odb_free(copy->from_odb);
	git_odb_free(copy->to_odb);
	free(copy);
}

void repo_copy_count(const struct repo_copy *copy, unsigned *ret_objects, uint64_t *ret_bytes)
{
	*ret_objects = copy->objects;
	*ret_bytes = copy->bytes;
}

static bool is_there(const struct repo_copy *copy, const git_oid *oid)
{
	return git_odb_exists_ext(copy->to_odb, oid, GIT_ODB_LOOKUP_NO_REFRESH);
}

/* The object itself; what it needs must be there. */
static int copy_one(struct repo_copy *copy, const git_oid *oid, struct lab_error *err)
{
	LAB_CLEANUP(git_odb_object) git_odb_object *object = NULL;
	const struct build_progress *p = copy->progress;
	git_oid written;
	int rc;

	if (p && p->cancelled && p->cancelled(p->ctx))
		return lab_error_set(err, LAB_ERR_CANCELLED, "stopped while objects were copied");
	rc = git_odb_read(&object, copy->from_odb, oid);
	if (rc == 0)
		rc = git_odb_write(&written, copy->to_odb, git_odb_object_data(object),
				   git_odb_object_size(object), git_odb_object_type(object));
	if (rc < 0)
		return repo_error(err, rc, "copy object");
	copy->objects++;
	copy->bytes += git_odb_object_size(object);
	if (p && p->fetch)
		p->fetch(p->ctx, copy->objects, 0, copy->bytes);
	return 0;
}

static int copy_tree(struct repo_copy *copy, const git_oid *oid, struct lab_error *err)
{
	LAB_CLEANUP(git_tree) git_tree *tree = NULL;
	size_t n;
	int rc;

	if (is_there(copy, oid))
		return 0;
	rc = git_tree_lookup(&tree, copy->from, oid);
	if (rc < 0)
		return repo_error(err, rc, "copy tree");
	n = git_tree_entrycount(tree);
	for (size_t i = 0; i < n; i++) {
		const git_tree_entry *entry = git_tree_entry_byindex(tree, i);
		const git_oid *id = git_tree_entry_id(entry);

		if (git_tree_entry_type(entry) == GIT_OBJECT_TREE) {
			if (copy_tree(copy, id, err) < 0)
				return -1;
		} else if (git_tree_entry_type(entry) == GIT_OBJECT_BLOB && !is_there(copy, id)) {
			if (copy_one(copy, id, err) < 0)
				return -1;
		}
	}
	return copy_one(copy, oid, err);
}

struct stack {
	git_oid *items;
	size_t n, cap;
};

static void push(struct stack *stack, const git_oid *oid)
{
	LAB_GROW(stack->items, stack->n, stack->cap);
	stack->items[stack->n++] = *oid;
}

/* Handles the top of the stack: pops it when it is there, else pushes the parents it misses. */
static int copy_top(struct repo_copy *copy, struct stack *stack, struct lab_error *err)
{
	LAB_CLEANUP(git_commit) git_commit *commit = NULL;
	git_oid oid = stack->items[stack->n - 1];
	size_t depth = stack->n;
	int rc;

	if (is_there(copy, &oid)) {
		stack->n--;
		return 0;
	}
	rc = git_commit_lookup(&commit, copy->from, &oid);
	if (rc < 0)
		return repo_error(err, rc, "copy commit");
	for (unsigned i = 0; i < git_commit_parentcount(commit); i++) {
		if (!is_there(copy, git_commit_parent_id(commit, i)))
			push(stack, git_commit_parent_id(commit, i));
	}
	if (stack->n > depth)
		return 0;
	if (copy_tree(copy, git_commit_tree_id(commit), err) < 0)
		return -1;
	stack->n--;
	return copy_one(copy, &oid, err);
}

/* Parents first, without recursion: histories are longer than stacks are deep. */
static int copy_commits(struct repo_copy *copy, const git_oid *head, struct lab_error *err)
{
	struct stack stack = {0};
	int rc = 0;

	push(&stack, head);
	while (stack.n && rc == 0)
		rc = copy_top(copy, &stack, err);
	free(stack.items);
	return rc;
}

int repo_copy_object(struct repo_copy *copy, const char *oid, struct lab_error *err)
{
	LAB_CLEANUP(git_object) git_object *object = NULL;
	git_oid id;
	int rc;

	if (repo_oid(&id, oid, err) < 0)
		return -1;
	if (is_there(copy, &id))
		return 0;
	rc = git_object_lookup(&object, copy->from, &id, GIT_OBJECT_ANY);
	if (rc < 0)
		return repo_error(err, rc, "copy object");
	switch (git_object_type(object)) {
	case GIT_OBJECT_COMMIT:
		return copy_commits(copy, &id, err);
	case GIT_OBJECT_TREE:
		return copy_tree(copy, &id, err);
	case GIT_OBJECT_TAG: {
		char target[REPO_OID];

		git_oid_tostr(target, REPO_OID, git_tag_target_id((const git_tag *)object));
		if (repo_copy_object(copy, target, err) < 0)
			return -1;
		return copy_one(copy, &id, err);
	}
	default:
		return copy_one(copy, &id, err);
	}
}
