/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_STORE_ARTIFACT_H
#define LAB_STORE_ARTIFACT_H

/*
 * Artifacts: finished directories that never change. The key is a hash of all
 * inputs and is looked up before the work; the content hash is taken after it.
 *
 *   artifact_find(lab, "kernel", key, &a, err)         there already?
 *   artifact_begin(lab, "kernel", key, &draft, err)    no: an empty directory
 *   ... write into artifact_draft_dir(draft) ...
 *   artifact_commit(draft, label, manifest, &a, err)   all of it or nothing
 *   artifact_draft_free(draft)                         always
 */

#include <stddef.h>
#include <stdint.h>

#include "common/cleanup.h"
#include "common/err.h"
#include "store/hash.h"
#include "store/lab.h"

#define ARTIFACT_KERNEL "kernel"
#define ARTIFACT_IMAGE "image"
#define ARTIFACT_INITRAMFS "initramfs"
#define ARTIFACT_VOLUME "volume"

/* How many digits of a key are shown to people. */
#define ARTIFACT_SHORT 12

struct artifact {
	int64_t id;
	char *kind;
	char *key;
	char *content;	/* artifact_content of the directory, 64 hex digits */
	char *path;	/* absolute directory */
	char *label;	/* for people: "v6.1 + 2"; may be empty, need not be unique */
	char *manifest; /* JSON object in text, "{}" when none was given */
	int64_t created;
	uint64_t bytes; /* of all files, as stored (holes not counted) */
};

void artifact_free(struct artifact *a);
struct artifact *artifact_copy(const struct artifact *a);
LAB_DEFINE_CLEANUP(artifact, struct artifact, artifact_free)

struct artifact_list {
	struct artifact **items;
	size_t n;
	size_t cap;
};

void artifact_list_release(struct artifact_list *list);

static inline void lab_cleanup_artifact_list(struct artifact_list *list)
{
	artifact_list_release(list);
}

/*
 * How an artifact was made: a file in it that is no part of what was made, since no two
 * builds of a key say the same in the same order.
 */
#define ARTIFACT_LOG "build.log"

/* hash_tree of all but ARTIFACT_LOG. */
int artifact_content(const char *dir, char out[HASH_HEX], struct lab_error *err) LAB_MUST_CHECK;

/* LAB_ERR_INVALID when the files are no longer those that were committed. Reads them all. */
int artifact_verify(const struct artifact *a, struct lab_error *err) LAB_MUST_CHECK;

/* The artifact with this very key; *ret is NULL when there is none, which is no failure. */
int artifact_find(struct lab *lab, const char *kind, const char *key, struct artifact **ret,
		  struct lab_error *err) LAB_MUST_CHECK;

/*
 * The one artifact (of `kind`, or of any when NULL) whose key begins with `name`
 * (four digits or more) or whose label is `name`. LAB_ERR_NOT_FOUND when none;
 * LAB_ERR_INVALID when several: the message lists them.
 */
int artifact_resolve(struct lab *lab, const char *kind, const char *name, struct artifact **ret,
		     struct lab_error *err) LAB_MUST_CHECK;

/* All of `kind` (NULL: of every kind), oldest first. */
int artifact_list(struct lab *lab, const char *kind, struct artifact_list *ret_list,
		  struct lab_error *err) LAB_MUST_CHECK;

/* Removes the row, then the directory. */
int artifact_remove(struct lab *lab, const struct artifact *a,
		    struct lab_error *err) LAB_MUST_CHECK;

struct artifact_draft;

/*
 * Makes an empty directory (mode 755) to fill. Drafts of dead processes are removed
 * on the way. The key is 8 to 64 characters of [0-9a-z]. It is no error when the
 * artifact exists or another process works on it too: the first commit wins.
 */
int artifact_begin(struct lab *lab, const char *kind, const char *key,
		   struct artifact_draft **ret_draft, struct lab_error *err) LAB_MUST_CHECK;
const char *artifact_draft_dir(const struct artifact_draft *draft); /* absolute, borrowed */

/*
 * Finishes the draft: content hash, sync, rename, row. Killed at any moment, the lab
 * has the whole artifact or none. When the key exists with the same content, that one
 * is returned and the draft is dropped; with another content it is an error that shows
 * both. `label` and `manifest` (JSON object in text) may be NULL. ret may be NULL.
 */
int artifact_commit(struct artifact_draft *draft, const char *label, const char *manifest,
		    struct artifact **ret, struct lab_error *err) LAB_MUST_CHECK;
/* Removes what was not committed. */
void artifact_draft_free(struct artifact_draft *draft);
LAB_DEFINE_CLEANUP(artifact_draft, struct artifact_draft, artifact_draft_free)

#endif
