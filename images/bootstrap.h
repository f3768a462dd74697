/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_IMAGES_BOOTSTRAP_H
#define LAB_IMAGES_BOOTSTRAP_H

/* Private to images/: recipe -> tar of a tree, by mmdebstrap. */

#include "common/err.h"
#include "common/strv.h"
#include "images/image.h"
#include "images/recipe.h"

/* Files that bootstrap_run leaves in its directory. */
#define BOOTSTRAP_TAR "root.tar"
#define BOOTSTRAP_PACKAGES "packages.tsv"

/*
 * How the tree can be made here. In front of mmdebstrap stands a process namespace
 * that dies with us, so that a killed labctl leaves no apt or dpkg at work.
 */
struct bootstrap_mode {
	const char *name;	  /* "root", "userns", "fakechroot" */
	const char *const *front; /* words before mmdebstrap; NULL-terminated, may be empty */
	const char *mmdebstrap;	  /* its --mode */
};

/* NULL when there is no way here: *ret_cure (caller frees) then says what to do. */
const struct bootstrap_mode *bootstrap_mode_find(char **ret_cure);

struct bootstrap {
	const struct recipe *recipe;
	const struct bootstrap_mode *mode;
	const char *dir; /* absolute, exists, empty: everything is written below it */
	const char *log; /* what mmdebstrap says is added to this file */
	const struct image_progress *progress;
};

/* The argument vector, without doing anything. */
void bootstrap_argv(const struct bootstrap *bootstrap, struct lab_strv *ret_argv);
int bootstrap_run(const struct bootstrap *bootstrap, struct lab_error *err) LAB_MUST_CHECK;

/* "1.3.5", or NULL when mmdebstrap is not installed; caller frees. */
char *bootstrap_version(void);

#endif
