/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_STORE_SOURCE_H
#define LAB_STORE_SOURCE_H

/* Named git repositories that patchsets and base trees come from. */

#include <stddef.h>
#include <stdint.h>

#include "common/cleanup.h"
#include "common/err.h"
#include "store/lab.h"

struct source {
	int64_t id;
	char *name;	   /* [A-Za-z0-9][A-Za-z0-9._-]* */
	char *kind;	   /* "git" or "tarball" */
	char *url;	   /* of the remote, or the tarball's path */
	char *reference;   /* a local clone to borrow objects from, or NULL */
	char *base_branch; /* where base commits are looked for, or NULL */
	int64_t created;
};

void source_free(struct source *s);
LAB_DEFINE_CLEANUP(source, struct source, source_free)

struct source_list {
	struct source **items;
	size_t n;
	size_t cap;
};

void source_list_release(struct source_list *list);

static inline void lab_cleanup_source_list(struct source_list *list)
{
	source_list_release(list);
}

/* LAB_ERR_INVALID when the name is taken or malformed. `s->id` and `created` are not read. */
int source_add(struct lab *lab, const struct source *s, struct lab_error *err) LAB_MUST_CHECK;
/* Changes url, reference and base_branch of the source with s->name. */
int source_update(struct lab *lab, const struct source *s, struct lab_error *err) LAB_MUST_CHECK;
/* LAB_ERR_NOT_FOUND names the sources there are. */
int source_find(struct lab *lab, const char *name, struct source **ret,
		struct lab_error *err) LAB_MUST_CHECK;
/* By name. */
int source_list(struct lab *lab, struct source_list *ret_list,
		struct lab_error *err) LAB_MUST_CHECK;
/* Removes the row; the repository's directory is its maker's business. */
int source_remove(struct lab *lab, const char *name, struct lab_error *err) LAB_MUST_CHECK;

#endif
