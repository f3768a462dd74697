/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walking a history: tags, the base of a patchset, its subjects. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder/repo_git.h"
#include "common/mem.h"

static int compare_tags(const void *a, const void *b)
{
	const struct repo_tag *x = a, *y = b;
	int c = strcmp(x->oid, y->oid);

	if (c)
		return c;
	if (strlen(x->name) != strlen(y->name))
		return strlen(x->name) < strlen(y->name) ? -1 : 1;
	return strcmp(x->name, y->name);
}

int repo_tags_add(struct repo *repo, struct repo_tags *tags, struct lab_error *err)
{
	LAB_CLEANUP(strv) struct lab_strv names = LAB_STRV_INIT;

	if (repo_refs(repo, "refs/tags/", &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		LAB_CLEANUP(git_reference) git_reference *ref = NULL;
		LAB_CLEANUP(git_object) git_object *commit = NULL;

		/* Linux has tags of trees and of keys; they are no base. */
		if (git_reference_lookup(&ref, repo_handle(repo), names.items[i]) < 0 ||
		    git_reference_peel(&commit, ref, GIT_OBJECT_COMMIT) < 0)
			continue;
		LAB_GROW(tags->items, tags->n, tags->cap);
		git_oid_tostr(tags->items[tags->n].oid, REPO_OID, git_object_id(commit));
		tags->items[tags->n++].name = lab_strdup(names.items[i] + strlen("refs/tags/"));
	}
	if (tags->n)
		qsort(tags->items, tags->n, sizeof(*tags->items), compare_tags);
	return 0;
}

static int compare_tag_oid(const void *key, const void *tag)
{
	return strcmp(key, ((const struct repo_tag *)tag)->oid);
}

const char *repo_tags_find(const struct repo_tags *tags, const char *oid)
{
	const struct repo_tag *tag =
		tags->n ? bsearch(oid, tags->items, tags->n, sizeof(*tag), compare_tag_oid) : NULL;

	if (!tag)
		return NULL;
	while (tag > tags->items && strcmp(tag[-1].oid, oid) == 0)
		tag--;
	return tag->name;
}

void repo_tags_release(struct repo_tags *tags)
{
	for (size_t i = 0; i < tags->n; i++)
		free(tags->items[i].name);
	free(tags->items);
	*tags = (struct repo_tags)REPO_TAGS_INIT;
}

struct oid_set {
	git_oid *items;
	size_t n, cap;
};

static int compare_oids(const void *a, const void *b)
{
	return git_oid_cmp(a, b);
}

/* The commits that head has and branch has not, sorted. */
static int own_commits(struct repo *repo, const git_oid *head, const git_oid *branch,
		       struct oid_set *set, struct lab_error *err)
{
	LAB_CLEANUP(git_revwalk) git_revwalk *walk = NULL;
	git_oid oid;
	int rc = git_revwalk_new(&walk, repo_handle(repo));

	if (rc == 0)
		rc = git_revwalk_push(walk, head);
	if (rc == 0)
		rc = git_revwalk_hide(walk, branch);
	while (rc == 0 && (rc = git_revwalk_next(&oid, walk)) == 0) {
		LAB_GROW(set->items, set->n, set->cap);
		set->items[set->n++] = oid;
	}
	if (rc != GIT_ITEROVER)
		return repo_error(err, rc, "walk the history");
	if (set->n)
		qsort(set->items, set->n, sizeof(*set->items), compare_oids);
	return 0;
}

static bool set_has(const struct oid_set *set, const git_oid *oid)
{
	return set->n && bsearch(oid, set->items, set->n, sizeof(*oid), compare_oids);
}

/* Goes down the first parents of `at`; `own` is NULL when there is no branch. */
static int walk_down(struct repo *repo, git_oid at, const struct repo_tags *tags,
		     const struct oid_set *own, struct repo_base *ret_base, struct lab_error *err)
{
	for (;;) {
		LAB_CLEANUP(git_commit) git_commit *commit = NULL;
		struct repo_base base;
		int rc = git_commit_lookup(&commit, repo_handle(repo), &at);

		if (rc < 0)
			return repo_error(err, rc, "walk the history");
		if (git_commit_parentcount(commit) == 0)
			return 0;
		at = *git_commit_parent_id(commit, 0);
		git_oid_tostr(base.oid, REPO_OID, &at);
		base.tag = repo_tags_find(tags, base.oid);
		if (base.tag || (own && !set_has(own, &at))) {
			*ret_base = base;
			return 1;
		}
	}
}

int repo_find_base(struct repo *repo, const char *head, const struct repo_tags *tags,
		   const char *branch, struct repo_base *ret_base, struct lab_error *err)
{
	struct oid_set own = {0};
	git_oid head_oid, branch_oid;
	int rc;

	if (repo_oid(&head_oid, head, err) < 0 ||
	    (branch && repo_oid(&branch_oid, branch, err) < 0))
		return -1;
	if (branch && own_commits(repo, &head_oid, &branch_oid, &own, err) < 0)
		rc = -1;
	else
		rc = walk_down(repo, head_oid, tags, branch ? &own : NULL, ret_base, err);
	free(own.items);
	return rc;
}

int repo_subjects(struct repo *repo, const char *base, const char *head,
		  struct lab_strv *ret_subjects, struct lab_error *err)
{
	LAB_CLEANUP(git_revwalk) git_revwalk *walk = NULL;
	git_oid from, to, oid;
	int rc;

	if (repo_oid(&from, base, err) < 0 || repo_oid(&to, head, err) < 0)
		return -1;
	rc = git_revwalk_new(&walk, repo_handle(repo));
	if (rc == 0)
		rc = git_revwalk_sorting(walk, GIT_SORT_TOPOLOGICAL | GIT_SORT_REVERSE);
	if (rc == 0)
		rc = git_revwalk_push(walk, &to);
	if (rc == 0)
		rc = git_revwalk_hide(walk, &from);
	while (rc == 0 && (rc = git_revwalk_next(&oid, walk)) == 0) {
		LAB_CLEANUP(git_commit) git_commit *commit = NULL;
		const char *subject;

		rc = git_commit_lookup(&commit, repo_handle(repo), &oid);
		if (rc < 0)
			break;
		subject = git_commit_summary(commit);
		lab_strv_add(ret_subjects, subject ? subject : "");
	}
	return rc == GIT_ITEROVER ? 0 : repo_error(err, rc, "commits of %s..%s", base, head);
}
