/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_BUILDER_RESOLVE_H
#define LAB_BUILDER_RESOLVE_H

/* From what the user typed to commits: which source has it, what it stands on. Internal. */

#include "builder/progress.h"
#include "builder/repo.h"
#include "common/err.h"
#include "common/strv.h"
#include "store/source.h"

struct lab;

struct resolved {
	struct source *source;
	struct repo *repo;
	char head[REPO_OID];
	char base[REPO_OID];
	char *base_name; /* tag, or a short commit id */
	char *base_how;	 /* "nearest tag under the change" */
	struct lab_strv subjects;
	bool fetched; /* something had to come */
	struct repo_fetched transfer;
};

/*
 * Finds `spec` in the named source, or (source NULL) in the first one in order of
 * addition that has it, fetching it by name when it is not here, and its base (`base`
 * NULL: found). LAB_ERR_NOT_FOUND names the source and the nearest it has.
 */
int resolve_patchset(struct lab *lab, const char *source, const char *spec, const char *base,
		     const struct build_progress *progress, struct resolved *ret_resolved,
		     struct lab_error *err) LAB_MUST_CHECK;
void resolved_release(struct resolved *resolved);

static inline void lab_cleanup_resolved(struct resolved *resolved)
{
	resolved_release(resolved);
}

#endif
