/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_BUILDER_LOOKUP_H
#define LAB_BUILDER_LOOKUP_H

/* Names in one source: here, or on its remote. Internal. */

#include "builder/progress.h"
#include "builder/repo.h"
#include "common/err.h"
#include "common/strv.h"
#include "store/source.h"

struct lookup;

/* Opens the source's repository at `path`; the remote only when it is needed. */
int lookup_new(const struct source *source, const char *path, const struct build_progress *progress,
	       struct lookup **ret_lookup, struct lab_error *err) LAB_MUST_CHECK;
void lookup_free(struct lookup *lookup);
LAB_DEFINE_CLEANUP(lookup, struct lookup, lookup_free)

/*
 * The commit of a full reference name, tag, branch or commit id, with ~N and ^ behind it. What can move is looked
 * up on the remote first, and taken from here (and said so) when that cannot be reached.
 * LAB_ERR_NOT_FOUND and LAB_ERR_UNAVAILABLE let the next source be tried.
 */
int lookup_commit(struct lookup *lookup, const char *name, char oid[REPO_OID],
		  struct lab_error *err) LAB_MUST_CHECK;
/*
 * The tip of the branch where the base of `head` is looked for. 1: found, 0: there is none.
 * Without one named for the source it is the remote's HEAD, but not when `head` is on that
 * branch itself: in somebody's own clone that is what he works on.
 */
int lookup_base_branch(struct lookup *lookup, const char *head, char oid[REPO_OID],
		       const char **ret_name, struct lab_error *err) LAB_MUST_CHECK;
/* Fetches every branch and tag. */
int lookup_fetch_all(struct lookup *lookup, struct lab_error *err) LAB_MUST_CHECK;

/*
 * Adds every reference of the remote's, full name and object id, in its order; of a source
 * without a remote those that are here. LAB_ERR_UNAVAILABLE when it cannot be reached.
 */
int lookup_list(struct lookup *lookup, struct lab_strv *ret_names, struct lab_strv *ret_oids,
		struct lab_error *err) LAB_MUST_CHECK;

struct repo *lookup_repo(const struct lookup *lookup);
struct repo *lookup_take_repo(struct lookup *lookup);
/* What was fetched so far. */
const struct repo_fetched *lookup_fetched(const struct lookup *lookup);

#endif
