/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/source.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "builder/lookup.h"
#include "builder/repo.h"
#include "builder/repo_import.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/num.h"
#include "store/facts.h"
#include "store/lab.h"
#include "store/source.h"

static const char import_fact[] = "tarball-import";

char *source_repository(struct lab *lab, const char *name)
{
	return lab_path(lab, "sources/%s.git", name);
}

/* A name is a directory's before it is a row's. */
static int check_name(const char *name, struct lab_error *err)
{
	if (!*name || *name == '.' || strchr(name, '/'))
		return lab_error_set(err, LAB_ERR_INVALID, "'%s' is no name for a source", name);
	return 0;
}

static void say(const struct build_progress *p, const char *word, const char *text)
{
	if (p && p->say)
		p->say(p->ctx, word, text);
}

/* ---- git ---- */

static const char *path_of(const char *url)
{
	return lab_starts_with(url, "file://") ? url + strlen("file://") : url;
}

/* The directories of objects to use in place: the reference's, and a path's own. */
static int objects_to_borrow(const char *reference, struct lab_strv *dirs, struct lab_error *err)
{
	LAB_CLEANUP(repo) struct repo *repo = NULL;
	LAB_CLEANUP(free) char *objects = NULL;

	if (!reference)
		return 0;
	if (repo_open_foreign(reference, &repo, err) < 0)
		return -1;
	objects = repo_objects_dir(repo);
	lab_strv_add(dirs, objects);
	return 0;
}

/* Makes the repository and its row; a repository without a row is in nobody's way. */
static int add_source(struct lab *lab, const struct source *row, const struct lab_strv *borrowed,
		      struct lab_error *err)
{
	LAB_CLEANUP(free) char *path = source_repository(lab, row->name);

	if (repo_init(path, err) < 0 || (borrowed->n && repo_borrow(path, borrowed, err) < 0))
		return -1;
	return source_add(lab, row, err);
}

/* 1: there is a source of that name, 0: there is none. */
static int is_taken(struct lab *lab, const char *name, struct source **ret, struct lab_error *err)
{
	struct lab_error why = {0};

	if (source_find(lab, name, ret, &why) == 0)
		return 1;
	if (why.kind == LAB_ERR_NOT_FOUND)
		return 0;
	return lab_error_set(err, why.kind, "%s", why.text);
}

int source_add_git(struct lab *lab, const char *name, const char *url, const char *reference,
		   const char *base_branch, struct lab_error *err)
{
	LAB_CLEANUP(strv) struct lab_strv borrowed = LAB_STRV_INIT;
	LAB_CLEANUP(source) struct source *old = NULL;
	bool is_path = repo_url_is_path(path_of(url));
	struct source row = {
		.name = (char *)name,
		.kind = (char *)"git",
		.url = (char *)url,
		.reference = (char *)(reference ? reference
				      : is_path ? path_of(url)
						: NULL),
		.base_branch = (char *)base_branch,
	};
	int rc = check_name(name, err) < 0 ? -1 : is_taken(lab, name, &old, err);

	if (rc < 0)
		return -1;
	if (rc > 0)
		return lab_error_set(err, LAB_ERR_INVALID, "there is a source '%s' already (%s)",
				     name, old->url ? old->url : old->kind);
	if (objects_to_borrow(row.reference, &borrowed, err) < 0)
		return lab_error_wrap(err, "source '%s'", name);
	if (is_path && reference && objects_to_borrow(path_of(url), &borrowed, err) < 0)
		return lab_error_wrap(err, "source '%s'", name);
	return add_source(lab, &row, &borrowed, err);
}

int source_fetch(struct lab *lab, const char *name, const struct build_progress *progress,
		 struct lab_error *err)
{
	LAB_CLEANUP(free) char *path = source_repository(lab, name);
	LAB_CLEANUP(source) struct source *source = NULL;
	LAB_CLEANUP(lookup) struct lookup *lookup = NULL;
	LAB_CLEANUP(free) char *text = NULL;
	const struct repo_fetched *fetched;
	char size[32], time[32];

	if (source_find(lab, name, &source, err) < 0 ||
	    lookup_new(source, path, progress, &lookup, err) < 0 ||
	    lookup_fetch_all(lookup, err) < 0)
		return -1;
	fetched = lookup_fetched(lookup);
	text = lab_asprintf("%u objects, %s in %s", fetched->objects,
			    lab_format_size(fetched->bytes, size, sizeof(size)),
			    lab_format_duration(fetched->ms, time, sizeof(time)));
	say(progress, "fetched", text);
	return 0;
}

int source_refs(struct lab *lab, const char *name, const struct build_progress *progress,
		struct lab_strv *ret_names, struct lab_strv *ret_oids, struct lab_error *err)
{
	LAB_CLEANUP(free) char *path = source_repository(lab, name);
	LAB_CLEANUP(source) struct source *source = NULL;
	LAB_CLEANUP(lookup) struct lookup *lookup = NULL;

	if (source_find(lab, name, &source, err) < 0 ||
	    lookup_new(source, path, progress, &lookup, err) < 0)
		return -1;
	return lookup_list(lookup, ret_names, ret_oids, err);
}

/* ---- tarballs ---- */

/* This very file, as far as a stat can tell: an import of it need not be repeated. */
static int import_scope(const char *name, const char *path, const char *as_tag, char **ret_scope,
			struct lab_error *err)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return lab_error_errno(err, errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return lab_error_set(err, LAB_ERR_INVALID, "%s is no tarball", path);
	*ret_scope = lab_asprintf("%s %s %s %llu %lld.%09ld", name, as_tag ? as_tag : "-", path,
				  (unsigned long long)st.st_size, (long long)st.st_mtim.tv_sec,
				  st.st_mtim.tv_nsec);
	return 0;
}

/* The tag a former import of the same file made, while it still leads to its commit. 1, 0, -1. */
static int imported_before(struct lab *lab, const char *scope, const char *repository,
			   char **ret_tag, struct lab_error *err)
{
	LAB_CLEANUP(repo) struct repo *repo = NULL;
	LAB_CLEANUP(free) char *text = NULL;
	LAB_CLEANUP(free) char *ref = NULL;
	const char *tag, *commit;
	char oid[REPO_OID];
	json_t *json;
	int rc = 0;

	if (fact_get(lab, import_fact, scope, &text, err) < 0)
		return -1;
	if (!text || !lab_dir_exists(repository))
		return 0;
	json = json_loads(text, 0, NULL);
	tag = json_string_value(json_object_get(json, "tag"));
	commit = json_string_value(json_object_get(json, "commit"));
	if (tag && commit) {
		ref = lab_asprintf("refs/tags/%s", tag);
		rc = repo_open(repository, &repo, err);
		if (rc == 0)
			rc = repo_ref(repo, ref, oid, err);
		if (rc > 0)
			rc = strcmp(oid, commit) == 0;
		if (rc > 0)
			*ret_tag = lab_strdup(tag);
	}
	json_decref(json);
	return rc;
}

static int remember_import(struct lab *lab, const char *scope, const char *tag, const char *commit,
			   struct lab_error *err)
{
	json_t *json = json_pack("{s:s, s:s}", "tag", tag, "commit", commit);
	LAB_CLEANUP(free) char *text = json_dumps(json, JSON_COMPACT);

	json_decref(json);
	return fact_put(lab, import_fact, scope, text, err);
}

/* A reference to objects that a power cut took would be worse than an import to repeat. */
static int sync_repository(const char *path, struct lab_error *err)
{
	LAB_CLEANUP(fd) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || syncfs(fd) < 0)
		return lab_error_errno(err, errno, "sync %s", path);
	return 0;
}

static int set_tag(struct repo *repo, const char *name, const char *tag, const char *commit,
		   struct lab_error *err)
{
	LAB_CLEANUP(free) char *ref = lab_asprintf("refs/tags/%s", tag);
	char old[REPO_OID];
	int rc = repo_ref(repo, ref, old, err);

	if (rc < 0)
		return -1;
	if (rc > 0 && strcmp(old, commit) != 0)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "source '%s' has a tag %s with another content; import it "
				     "under another name",
				     name, tag);
	return rc > 0 ? 0 : repo_set_ref(repo, ref, commit, err);
}

static int import_into(const char *name, const char *repository, const char *path,
		       const char *as_tag, const struct build_progress *progress, char **ret_tag,
		       char commit[REPO_OID], struct lab_error *err)
{
	LAB_CLEANUP(repo) struct repo *repo = NULL;
	LAB_CLEANUP(free) char *version = NULL;
	LAB_CLEANUP(free) char *tag = NULL;
	LAB_CLEANUP(free) char *text = NULL;
	struct repo_imported imported;
	uint64_t began = lab_now_ms();
	char size[32], time[32];

	if (repo_init(repository, err) < 0 || repo_open(repository, &repo, err) < 0 ||
	    repo_import(repo, path, progress, &imported, err) < 0)
		return -1;
	version = imported.version;
	if (!as_tag && !version)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "%s: its Makefile tells no version, so its tag must be named",
				     path);
	tag = as_tag ? lab_strdup(as_tag) : lab_asprintf("v%s", version);
	if (sync_repository(repository, err) < 0 ||
	    set_tag(repo, name, tag, imported.commit, err) < 0)
		return -1;
	text = lab_asprintf("%s: %llu files, %s in %s", tag, (unsigned long long)imported.files,
			    lab_format_size(imported.bytes, size, sizeof(size)),
			    lab_format_duration(lab_now_ms() - began, time, sizeof(time)));
	say(progress, "imported", text);
	memcpy(commit, imported.commit, REPO_OID);
	*ret_tag = LAB_TAKE(tag);
	return 0;
}

/* The row last: it says that the source is whole. */
static int put_row(struct lab *lab, const char *name, const char *path, const char *url,
		   struct lab_error *err)
{
	LAB_CLEANUP(source) struct source *old = NULL;
	struct source row = {
		.name = (char *)name,
		.kind = (char *)(url ? "git" : "tarball"),
		.url = (char *)(url ? url : path),
	};
	int rc = is_taken(lab, name, &old, err);

	if (rc < 0)
		return -1;
	if (rc == 0)
		return source_add(lab, &row, err);
	if (!url || (old->url && strcmp(old->url, url) == 0))
		return 0;
	if (strcmp(old->kind, "git") != 0)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "source '%s' was added without a url; remove it first", name);
	row.reference = old->reference;
	row.base_branch = old->base_branch;
	return source_update(lab, &row, err);
}

int source_import_tarball(struct lab *lab, const char *name, const char *path, const char *as_tag,
			  const char *url, const struct build_progress *progress, char **ret_tag,
			  struct lab_error *err)
{
	LAB_CLEANUP(free) char *repository = source_repository(lab, name);
	LAB_CLEANUP(free) char *scope = NULL;
	LAB_CLEANUP(free) char *tag = NULL;
	char commit[REPO_OID];
	int rc;

	if (check_name(name, err) < 0 || import_scope(name, path, as_tag, &scope, err) < 0)
		return -1;
	rc = imported_before(lab, scope, repository, &tag, err);
	if (rc < 0)
		return -1;
	if (rc == 0 &&
	    (import_into(name, repository, path, as_tag, progress, &tag, commit, err) < 0 ||
	     remember_import(lab, scope, tag, commit, err) < 0))
		return -1;
	if (put_row(lab, name, path, url, err) < 0)
		return -1;
	if (ret_tag)
		*ret_tag = LAB_TAKE(tag);
	return 0;
}
