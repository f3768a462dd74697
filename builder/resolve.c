/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/resolve.h"

#include <stdlib.h>
#include <string.h>

#include "builder/lookup.h"
#include "builder/source.h"
#include "common/mem.h"

enum { SHORT_OID = 12 };

void resolved_release(struct resolved *r)
{
	source_free(r->source);
	repo_free(r->repo);
	free(r->base_name);
	free(r->base_how);
	lab_strv_release(&r->subjects);
	*r = (struct resolved){0};
}

/* Tags of the source and of the clone whose objects it borrows. */
static int collect_tags(struct lookup *lookup, const struct source *source, struct repo_tags *tags,
			struct lab_error *err)
{
	LAB_CLEANUP(repo) struct repo *reference = NULL;

	if (repo_tags_add(lookup_repo(lookup), tags, err) < 0)
		return -1;
	if (!source->reference)
		return 0;
	if (repo_open_foreign(source->reference, &reference, err) < 0)
		return lab_error_wrap(err, "source '%s'", source->name);
	return repo_tags_add(reference, tags, err);
}

static void set_base(struct resolved *r, const char *oid, const char *tag, const char *how)
{
	memcpy(r->base, oid, REPO_OID);
	r->base_name = tag ? lab_strdup(tag) : lab_strndup(oid, SHORT_OID);
	r->base_how = lab_strdup(how);
}

static int find_base(struct lookup *lookup, const struct repo_tags *tags, const char *spec,
		     struct resolved *r, struct lab_error *err)
{
	LAB_CLEANUP(free) char *how = NULL;
	const char *branch = NULL;
	char tip[REPO_OID];
	struct repo_base base;
	int has_branch = lookup_base_branch(lookup, r->head, tip, &branch, err);
	int rc;

	if (has_branch < 0)
		return -1;
	rc = repo_find_base(lookup_repo(lookup), r->head, tags, has_branch ? tip : NULL, &base,
			    err);
	if (rc < 0)
		return -1;
	if (rc == 0)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "%s: no ancestor of it has a tag%s%s in source '%s'; name "
				     "its base: --base COMMIT",
				     spec, has_branch ? " or is on branch " : "",
				     has_branch ? branch : "", r->source->name);
	how = base.tag ? lab_strdup("nearest tag under the change")
		       : lab_asprintf("nearest commit of branch %s under the change", branch);
	set_base(r, base.oid, base.tag, how);
	return 0;
}

/* A base that was named: it must lie under the head. */
static int given_base(struct lookup *lookup, const struct repo_tags *tags, const char *name,
		      const char *how, struct resolved *r, struct lab_error *err)
{
	char oid[REPO_OID], common[REPO_OID];
	const char *tag;
	int rc;

	if (lookup_commit(lookup, name, oid, err) < 0)
		return lab_error_wrap(err, "base '%s'", name);
	rc = repo_is_ancestor(lookup_repo(lookup), oid, r->head, err);
	if (rc == 0)
		rc = repo_merge_base(lookup_repo(lookup), oid, r->head, common, err) > 0
			     ? lab_error_set(err, LAB_ERR_INVALID,
					     "base '%s' is no ancestor of the patchset; "
					     "they part at %.12s",
					     name, common)
			     : lab_error_set(err, LAB_ERR_INVALID,
					     "base '%s' and the patchset share no history", name);
	if (rc < 0)
		return -1;
	tag = repo_tags_find(tags, oid);
	set_base(r, oid, tag, how);
	return 0;
}

/* Splits "A..B"; a name alone gives only *ret_head. */
static int split_spec(const char *spec, char **ret_from, char **ret_head, struct lab_error *err)
{
	const char *dots = strstr(spec, "..");

	if (!dots) {
		*ret_from = NULL;
		*ret_head = lab_strdup(spec);
		return 0;
	}
	if (dots == spec || !dots[2] || dots[2] == '.' || strstr(dots + 2, ".."))
		return lab_error_set(err, LAB_ERR_USAGE, "'%s' is no range: write A..B", spec);
	*ret_from = lab_strndup(spec, (size_t)(dots - spec));
	*ret_head = lab_strdup(dots + 2);
	return 0;
}

static int resolve_with(struct lookup *lookup, const char *spec, const char *base,
			struct resolved *r, struct lab_error *err)
{
	LAB_CLEANUP(repo_tags) struct repo_tags tags = REPO_TAGS_INIT;
	LAB_CLEANUP(free) char *from = NULL;
	LAB_CLEANUP(free) char *head = NULL;
	int rc;

	if (split_spec(spec, &from, &head, err) < 0)
		return -1;
	if (from && base)
		return lab_error_set(err, LAB_ERR_USAGE, "'%s' names its base already: no --base",
				     spec);
	if (lookup_commit(lookup, head, r->head, err) < 0 ||
	    collect_tags(lookup, r->source, &tags, err) < 0)
		return -1;
	if (from)
		rc = given_base(lookup, &tags, from, "start of the range", r, err);
	else if (base)
		rc = given_base(lookup, &tags, base, "given by --base", r, err);
	else
		rc = find_base(lookup, &tags, spec, r, err);
	if (rc < 0)
		return -1;
	if (strcmp(r->base, r->head) == 0)
		return lab_error_set(err, LAB_ERR_INVALID, "%s is its own base: no patch in it",
				     spec);
	return repo_subjects(lookup_repo(lookup), r->base, r->head, &r->subjects, err);
}

/* Takes `source` over when it succeeds. */
static int resolve_in(struct lab *lab, struct source *source, const char *spec, const char *base,
		      const struct build_progress *progress, struct resolved *ret_resolved,
		      struct lab_error *err)
{
	LAB_CLEANUP(free) char *path = source_repository(lab, source->name);
	LAB_CLEANUP(lookup) struct lookup *lookup = NULL;
	struct resolved r = {.source = source};
	int rc = lookup_new(source, path, progress, &lookup, err);

	if (rc == 0)
		rc = resolve_with(lookup, spec, base, &r, err);
	if (rc < 0) {
		r.source = NULL;
		resolved_release(&r);
		return -1;
	}
	r.transfer = *lookup_fetched(lookup);
	r.fetched = r.transfer.objects > 0;
	r.repo = lookup_take_repo(lookup);
	*ret_resolved = r;
	return 0;
}

static int by_id(const void *a, const void *b)
{
	const struct source *x = *(const struct source *const *)a;
	const struct source *y = *(const struct source *const *)b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* What every source said to a patchset that none of them has. */
struct refusals {
	unsigned n;
	struct lab_strv names;
	struct lab_error first;	 /* the words of the first source */
	struct lab_error remote; /* of the first one that could not be asked */
};

static int nobody_has(const struct refusals *refusals, const char *spec, struct lab_error *err)
{
	LAB_CLEANUP(free) char *names = lab_strv_join(&refusals->names, ", ");

	if (refusals->n == 1)
		return lab_error_set(err, refusals->first.kind, "%s", refusals->first.text);
	if (refusals->remote.kind != LAB_ERR_NONE)
		return lab_error_set(err, LAB_ERR_UNAVAILABLE, "no source (%s) has %s: %s", names,
				     spec, refusals->remote.text);
	return lab_error_set(err, LAB_ERR_NOT_FOUND, "no source (%s) has %s: %s", names, spec,
			     refusals->first.text);
}

static int resolve_anywhere(struct lab *lab, struct source_list *list, const char *spec,
			    const char *base, const struct build_progress *progress,
			    struct resolved *ret_resolved, struct lab_error *err)
{
	struct refusals refusals = {.names = LAB_STRV_INIT};
	int rc = -1;

	qsort(list->items, list->n, sizeof(list->items[0]), by_id);
	for (size_t i = 0; i < list->n; i++) {
		struct lab_error why = {0};

		rc = resolve_in(lab, list->items[i], spec, base, progress, ret_resolved, &why);
		if (rc == 0) {
			list->items[i] = NULL;
			break;
		}
		if (why.kind != LAB_ERR_NOT_FOUND && why.kind != LAB_ERR_UNAVAILABLE) {
			lab_error_set(err, why.kind, "%s", why.text);
			break;
		}
		lab_strv_add(&refusals.names, list->items[i]->name);
		if (refusals.n++ == 0)
			refusals.first = why;
		if (refusals.remote.kind == LAB_ERR_NONE && why.kind == LAB_ERR_UNAVAILABLE)
			refusals.remote = why;
	}
	if (rc < 0 && refusals.n == list->n)
		nobody_has(&refusals, spec, err);
	lab_strv_release(&refusals.names);
	return rc;
}

int resolve_patchset(struct lab *lab, const char *source, const char *spec, const char *base,
		     const struct build_progress *progress, struct resolved *ret_resolved,
		     struct lab_error *err)
{
	LAB_CLEANUP(source_list) struct source_list list = {0};
	LAB_CLEANUP(source) struct source *named = NULL;

	if (!spec || !*spec)
		return lab_error_set(err, LAB_ERR_USAGE, "no patchset is named");
	if (source) {
		if (source_find(lab, source, &named, err) < 0 ||
		    resolve_in(lab, named, spec, base, progress, ret_resolved, err) < 0)
			return -1;
		named = NULL;
		return 0;
	}
	if (source_list(lab, &list, err) < 0)
		return -1;
	if (!list.n)
		return lab_error_set(err, LAB_ERR_NOT_FOUND,
				     "the lab has no source yet: labctl source add NAME URL");
	return resolve_anywhere(lab, &list, spec, base, progress, ret_resolved, err);
}
