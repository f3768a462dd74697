/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/lookup.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/nearest.h"
#include "common/strv.h"

static const char heads[] = "refs/heads/", tags[] = "refs/tags/", changes[] = "refs/changes/",
		  tracking[] = "refs/remotes/origin/", remote_head[] = "refs/remotes/origin/HEAD";

struct lookup {
	const struct source *source;
	const struct build_progress *progress;
	struct repo *repo;
	struct repo_remote *remote;
	struct lab_error unreachable; /* why the remote is not open; kind NONE: not tried */
	struct repo_fetched fetched;
	char *base_branch; /* without refs/heads/ */
};

int lookup_new(const struct source *source, const char *path, const struct build_progress *progress,
	       struct lookup **ret_lookup, struct lab_error *err)
{
	LAB_CLEANUP(lookup) struct lookup *lookup = LAB_NEW(struct lookup);

	lookup->source = source;
	lookup->progress = progress;
	lookup->base_branch = lab_strdup(source->base_branch);
	if (repo_open(path, &lookup->repo, err) < 0)
		return lab_error_wrap(err, "source '%s'", source->name);
	if (!lookup->base_branch) {
		LAB_CLEANUP(free) char *head = repo_symbolic(lookup->repo, remote_head);

		if (head && lab_starts_with(head, tracking))
			lookup->base_branch = lab_strdup(head + strlen(tracking));
	}
	*ret_lookup = LAB_TAKE(lookup);
	return 0;
}

void lookup_free(struct lookup *lookup)
{
	if (!lookup)
		return;
	repo_remote_free(lookup->remote);
	repo_free(lookup->repo);
	free(lookup->base_branch);
	free(lookup);
}

struct repo *lookup_repo(const struct lookup *lookup)
{
	return lookup->repo;
}

struct repo *lookup_take_repo(struct lookup *lookup)
{
	repo_remote_free(LAB_TAKE(lookup->remote));
	return LAB_TAKE(lookup->repo);
}

const struct repo_fetched *lookup_fetched(const struct lookup *lookup)
{
	return &lookup->fetched;
}

static bool has_remote(const struct lookup *lookup)
{
	return strcmp(lookup->source->kind, "git") == 0 && lookup->source->url;
}

/* The remote's HEAD is the base branch of a source that names none. */
static void note_head(struct lookup *lookup)
{
	const char *head = repo_remote_head(lookup->remote);

	if (lookup->source->base_branch || !head || !lab_starts_with(head, heads))
		return;
	free(lookup->base_branch);
	lookup->base_branch = lab_strdup(head + strlen(heads));
}

/*
 * Keeps it as git does, for when the remote is not asked. Only once the branch is here:
 * libgit2 fetches nothing into a repository with a symbolic reference to nowhere.
 */
static int keep_head(struct lookup *lookup, struct lab_error *err)
{
	LAB_CLEANUP(free) char *local = NULL;
	char tip[REPO_OID];
	int rc;

	if (lookup->source->base_branch || !lookup->base_branch)
		return 0;
	local = lab_asprintf("%s%s", tracking, lookup->base_branch);
	rc = repo_ref(lookup->repo, local, tip, err);
	if (rc <= 0)
		return rc;
	return repo_set_symbolic(lookup->repo, remote_head, local, err);
}

/* 1: open, 0: there is none or it cannot be reached (the reason is kept), -1: stopped. */
static int open_remote(struct lookup *lookup, struct lab_error *err)
{
	struct lab_error why = {0};

	if (lookup->remote)
		return 1;
	if (!has_remote(lookup) || lookup->unreachable.kind != LAB_ERR_NONE)
		return 0;
	if (repo_remote_open(lookup->repo, lookup->source->url, lookup->progress, &lookup->remote,
			     &why) < 0) {
		if (why.kind == LAB_ERR_CANCELLED)
			return lab_error_set(err, why.kind, "%s", why.text);
		lookup->unreachable = why;
		return 0;
	}
	note_head(lookup);
	return 1;
}

/* Where a reference of the remote's is kept here; caller frees. */
static char *local_name(const char *ref)
{
	if (lab_starts_with(ref, heads))
		return lab_asprintf("%s%s", tracking, ref + strlen(heads));
	return lab_strdup(ref);
}

static int run_fetch(struct lookup *lookup, const struct lab_strv *refspecs, struct lab_error *err)
{
	struct repo_fetched fetched;

	if (repo_remote_fetch(lookup->remote, refspecs, &fetched, err) < 0)
		return lab_error_wrap(err, "source '%s'", lookup->source->name);
	lookup->fetched.objects += fetched.objects;
	lookup->fetched.bytes += fetched.bytes;
	lookup->fetched.ms += fetched.ms;
	return keep_head(lookup, err);
}

static void add_refspec(struct lab_strv *refspecs, const char *ref)
{
	LAB_CLEANUP(free) char *local = local_name(ref);

	lab_strv_addf(refspecs, "+%s:%s", ref, local);
}

/* Fetches one reference of the remote's, and the base branch, which may have moved with it. */
static int fetch_ref(struct lookup *lookup, const char *ref, struct lab_error *err)
{
	LAB_CLEANUP(strv) struct lab_strv refspecs = LAB_STRV_INIT;
	LAB_CLEANUP(free) char *branch = NULL;

	add_refspec(&refspecs, ref);
	if (lookup->base_branch) {
		branch = lab_asprintf("%s%s", heads, lookup->base_branch);
		if (strcmp(branch, ref) != 0 && repo_remote_find(lookup->remote, branch))
			add_refspec(&refspecs, branch);
	}
	return run_fetch(lookup, &refspecs, err);
}

int lookup_fetch_all(struct lookup *lookup, struct lab_error *err)
{
	LAB_CLEANUP(strv) struct lab_strv refspecs = LAB_STRV_INIT;
	int rc = open_remote(lookup, err);

	if (rc < 0)
		return -1;
	if (rc == 0 && !has_remote(lookup))
		return lab_error_set(err, LAB_ERR_INVALID,
				     "source '%s' is a tarball: there is nothing to fetch",
				     lookup->source->name);
	if (rc == 0)
		return lab_error_set(err, lookup->unreachable.kind, "source '%s': %s",
				     lookup->source->name, lookup->unreachable.text);
	lab_strv_addf(&refspecs, "+%s*:%s*", heads, tracking);
	lab_strv_addf(&refspecs, "+%s*:%s*", tags, tags);
	return run_fetch(lookup, &refspecs, err);
}

/* The full names that `name` may stand for on a remote, git's order. */
static void candidates(const char *name, struct lab_strv *names)
{
	if (lab_starts_with(name, "refs/")) {
		lab_strv_add(names, name);
		return;
	}
	lab_strv_addf(names, "refs/%s", name);
	lab_strv_addf(names, "%s%s", tags, name);
	lab_strv_addf(names, "%s%s", heads, name);
}

static bool is_hex(const char *name)
{
	size_t len = strlen(name);

	return len >= 7 && len < REPO_OID && strspn(name, "0123456789abcdefABCDEF") == len;
}

static int find_here(struct lookup *lookup, const char *name, char oid[REPO_OID],
		     struct lab_error *err)
{
	LAB_CLEANUP(strv) struct lab_strv names = LAB_STRV_INIT;

	candidates(name, &names);
	for (size_t i = 0; i < names.n; i++) {
		LAB_CLEANUP(free) char *local = local_name(names.items[i]);
		int rc = repo_ref(lookup->repo, local, oid, err);

		if (rc != 0)
			return rc;
	}
	return is_hex(name) ? repo_commit(lookup->repo, name, oid, err) : 0;
}

/* Fetches it when the remote (which is open) has a reference of that name. 1, 0 or -1. */
static int find_there(struct lookup *lookup, const char *name, char oid[REPO_OID],
		      struct lab_error *err)
{
	LAB_CLEANUP(strv) struct lab_strv names = LAB_STRV_INIT;

	candidates(name, &names);
	for (size_t i = 0; i < names.n; i++) {
		const struct repo_remote_ref *ref =
			repo_remote_find(lookup->remote, names.items[i]);
		LAB_CLEANUP(free) char *local = local_name(names.items[i]);
		char here[REPO_OID];
		int rc;

		if (!ref)
			continue;
		rc = repo_ref(lookup->repo, local, here, err);
		if (rc < 0)
			return -1;
		/* The same commit under the same name: nothing to ask for. */
		if (rc > 0 && strcmp(here, ref->oid) == 0) {
			memcpy(oid, here, REPO_OID);
			return 1;
		}
		if (fetch_ref(lookup, names.items[i], err) < 0)
			return -1;
		return repo_ref(lookup->repo, local, oid, err);
	}
	return 0;
}

/* "30/1430/1" of a change's reference. */
struct change {
	unsigned long number, patchset;
};

static bool parse_change(const char *ref, struct change *change)
{
	const char *number;
	char *end;

	if (!lab_starts_with(ref, changes))
		return false;
	number = strchr(ref + strlen(changes), '/');
	if (!number || !isdigit((unsigned char)number[1]))
		return false;
	change->number = strtoul(number + 1, &end, 10);
	if (*end != '/' || !isdigit((unsigned char)end[1]))
		return false;
	change->patchset = strtoul(end + 1, &end, 10);
	return !*end;
}

/* The newest patchset of the change that was asked for, else of the newest change there is. */
static char *nearest_change(const struct lookup *lookup, const struct change *asked)
{
	struct change best = {0, 0};
	bool same = false;
	size_t n;
	const struct repo_remote_ref *refs = repo_remote_refs(lookup->remote, &n);

	for (size_t i = 0; i < n; i++) {
		struct change c;
		bool is_same;

		if (!parse_change(refs[i].name, &c))
			continue;
		is_same = c.number == asked->number;
		if (is_same < same)
			continue;
		if (is_same > same || c.number > best.number ||
		    (c.number == best.number && c.patchset > best.patchset))
			best = c;
		same = is_same;
	}
	if (!best.number)
		return lab_strdup("; it has no changes at all");
	return lab_asprintf("; the newest %s is %02lu/%lu/%lu (labctl source show %s --refs)",
			    same ? "patchset of this change" : "change it has", best.number % 100,
			    best.number, best.patchset, lookup->source->name);
}

static const char *short_name(const char *ref)
{
	if (lab_starts_with(ref, heads))
		return ref + strlen(heads);
	if (lab_starts_with(ref, tags))
		return ref + strlen(tags);
	return lab_starts_with(ref, tracking) ? ref + strlen(tracking) : ref;
}

static char *nearest_name(const struct lookup *lookup, const char *name)
{
	LAB_CLEANUP(strv) struct lab_strv names = LAB_STRV_INIT;
	struct lab_nearest nearest = {.word = short_name(name)};
	size_t n = 0;
	const struct repo_remote_ref *refs =
		lookup->remote ? repo_remote_refs(lookup->remote, &n) : NULL;

	if (repo_refs(lookup->repo, "refs/", &names, NULL) < 0)
		return lab_strdup("");
	for (size_t i = 0; i < names.n; i++) {
		if (strcmp(names.items[i], remote_head) != 0)
			lab_nearest_consider(&nearest, short_name(names.items[i]));
	}
	for (size_t i = 0; i < n; i++)
		lab_nearest_consider(&nearest, short_name(refs[i].name));
	if (!nearest.best)
		return lab_strdup("");
	return lab_asprintf("; the nearest name it has is '%s'", nearest.best);
}

static int unknown(const struct lookup *lookup, const char *name, struct lab_error *err)
{
	struct change asked;
	LAB_CLEANUP(free) char *hint = NULL;

	if (lookup->unreachable.kind != LAB_ERR_NONE)
		return lab_error_set(err, LAB_ERR_UNAVAILABLE,
				     "source '%s' has no %s here, and %s (point the source at a "
				     "mirror: labctl source rm %s, labctl source add %s URL)",
				     lookup->source->name, name, lookup->unreachable.text,
				     lookup->source->name, lookup->source->name);
	if (lookup->remote && parse_change(name, &asked))
		hint = nearest_change(lookup, &asked);
	else
		hint = nearest_name(lookup, name);
	return lab_error_set(err, LAB_ERR_NOT_FOUND, "source '%s' has no %s%s",
			     lookup->source->name, name, hint);
}

/* True when what is here under this name is what it will always be. */
static bool is_settled(const struct lookup *lookup, const char *name)
{
	struct change change;

	if (!has_remote(lookup) || is_hex(name))
		return true;
	/* A server keeps a patchset as it is; a directory of somebody's may be made anew. */
	return parse_change(name, &change) && !repo_url_is_path(lookup->source->url);
}

static int lookup_name(struct lookup *lookup, const char *name, char oid[REPO_OID],
		       struct lab_error *err)
{
	char found[REPO_OID];
	int rc = is_settled(lookup, name) ? find_here(lookup, name, found, err) : 0;

	if (rc == 0) {
		rc = open_remote(lookup, err);
		if (rc > 0)
			rc = find_there(lookup, name, found, err);
		if (rc == 0 && is_hex(name) && lookup->remote)
			rc = lookup_fetch_all(lookup, err);
	}
	if (rc == 0) {
		const struct build_progress *p = lookup->progress;

		rc = find_here(lookup, name, found, err);
		if (rc > 0 && lookup->unreachable.kind != LAB_ERR_NONE && p && p->say)
			p->say(p->ctx, "source", lookup->unreachable.text);
	}
	if (rc < 0)
		return -1;
	if (rc == 0)
		return unknown(lookup, name, err);
	memcpy(oid, found, REPO_OID);
	return 0;
}

int lookup_commit(struct lookup *lookup, const char *name, char oid[REPO_OID],
		  struct lab_error *err)
{
	size_t len = strcspn(name, "~^");
	LAB_CLEANUP(free) char *plain = lab_strndup(name, len);

	if (lookup_name(lookup, plain, oid, err) < 0)
		return -1;
	return name[len] ? repo_ancestor(lookup->repo, name + len, oid, err) : 0;
}

/* The branch's tip as it is here; fetched when it never was. 1, 0 or -1. */
static int branch_tip(struct lookup *lookup, char tip[REPO_OID], struct lab_error *err)
{
	LAB_CLEANUP(free) char *local = NULL;
	LAB_CLEANUP(free) char *branch = NULL;
	int rc;

	if (!lookup->base_branch) {
		rc = open_remote(lookup, err); /* which tells its HEAD */
		if (rc < 0 || !lookup->base_branch)
			return rc < 0 ? -1 : 0;
	}
	local = lab_asprintf("%s%s", tracking, lookup->base_branch);
	branch = lab_asprintf("%s%s", heads, lookup->base_branch);
	rc = repo_ref(lookup->repo, local, tip, err);
	if (rc != 0)
		return rc;
	rc = open_remote(lookup, err);
	if (rc <= 0)
		return rc;
	if (repo_remote_find(lookup->remote, branch))
		return fetch_ref(lookup, branch, err) < 0 ? -1
							  : repo_ref(lookup->repo, local, tip, err);
	if (lookup->source->base_branch)
		return lab_error_set(
			err, LAB_ERR_INVALID,
			"source '%s' has no branch %s, which its bases are looked for on",
			lookup->source->name, lookup->base_branch);
	return 0;
}

int lookup_base_branch(struct lookup *lookup, const char *head, char oid[REPO_OID],
		       const char **ret_name, struct lab_error *err)
{
	char tip[REPO_OID];
	int rc = branch_tip(lookup, tip, err);

	if (rc <= 0)
		return rc;
	if (!lookup->source->base_branch) {
		rc = repo_is_ancestor(lookup->repo, head, tip, err);
		if (rc != 0)
			return rc < 0 ? -1 : 0;
	}
	memcpy(oid, tip, REPO_OID);
	*ret_name = lookup->base_branch;
	return 1;
}

static int list_local(struct repo *repo, struct lab_strv *names, struct lab_strv *oids,
		      struct lab_error *err)
{
	if (repo_refs(repo, "refs/", names, err) < 0)
		return -1;
	for (size_t i = 0; i < names->n; i++) {
		char oid[REPO_OID] = "";

		if (repo_ref(repo, names->items[i], oid, err) < 0)
			return -1;
		lab_strv_add(oids, oid);
	}
	return 0;
}

int lookup_list(struct lookup *lookup, struct lab_strv *ret_names, struct lab_strv *ret_oids,
		struct lab_error *err)
{
	const struct repo_remote_ref *refs;
	size_t n;

	if (!has_remote(lookup))
		return list_local(lookup->repo, ret_names, ret_oids, err);
	if (open_remote(lookup, err) < 0)
		return -1;
	if (!lookup->remote)
		return lab_error_set(err, lookup->unreachable.kind, "source '%s': %s",
				     lookup->source->name, lookup->unreachable.text);
	refs = repo_remote_refs(lookup->remote, &n);
	for (size_t i = 0; i < n; i++) {
		lab_strv_add(ret_names, refs[i].name);
		lab_strv_add(ret_oids, refs[i].oid);
	}
	return 0;
}
