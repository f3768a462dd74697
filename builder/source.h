/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_BUILDER_SOURCE_H
#define LAB_BUILDER_SOURCE_H

/*
 * Where patchsets and base trees come from. Each source is a bare repository of the
 * lab's own, LAB/sources/NAME.git; its row is a struct source of store/source.h. The
 * user's repositories are only read. The caller holds the lab's lock.
 */

#include "builder/progress.h"
#include "common/err.h"
#include "common/strv.h"

struct lab;

/*
 * Adds a source whose objects come from `url`: a URL or the path of a repository.
 * `reference` (NULL for none) is a local repository whose objects are used in place
 * (alternates). `base_branch` (NULL: the remote's HEAD, as it is found by the first
 * fetch) is where bases are looked for. Nothing is fetched yet, except that a path
 * must be a repository. A name that is taken with the same url is an error too.
 */
int source_add_git(struct lab *lab, const char *name, const char *url, const char *reference,
		   const char *base_branch, struct lab_error *err) LAB_MUST_CHECK;

/*
 * Makes (or adds to) source `name` one commit with the content of a kernel tarball, with
 * fixed author and date, tagged `as_tag` (NULL: "v" and the version its Makefile says).
 * The single top directory is dropped; every file is taken whatever .gitignore says;
 * symbolic links and the executable bit are kept. The same tarball gives the same commit
 * everywhere. A source that holds this tag already is left as it is and 0 returned, so
 * repeating is cheap; ret_tag (caller frees, may be NULL) is the tag.
 * When `url` is not NULL, later changes are fetched from there.
 */
int source_import_tarball(struct lab *lab, const char *name, const char *path, const char *as_tag,
			  const char *url, const struct build_progress *progress, char **ret_tag,
			  struct lab_error *err) LAB_MUST_CHECK;

/* Fetches the remote's branches and tags. */
int source_fetch(struct lab *lab, const char *name, const struct build_progress *progress,
		 struct lab_error *err) LAB_MUST_CHECK;

/*
 * Adds the references that the source's remote has now, full names and object ids in the
 * remote's order; of a source without a remote those of its repository. Fetches nothing.
 */
int source_refs(struct lab *lab, const char *name, const struct build_progress *progress,
		struct lab_strv *ret_names, struct lab_strv *ret_oids,
		struct lab_error *err) LAB_MUST_CHECK;

/* Where the source's bare repository lies; caller frees. */
char *source_repository(struct lab *lab, const char *name);

#endif
