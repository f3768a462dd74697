/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_IMAGES_RECIPE_H
#define LAB_IMAGES_RECIPE_H

/*
 * What a root image is made of (images/recipes/NAME.yaml):
 *
 *	suite: bookworm			# of the distribution, as the host's apt knows it
 *	size: 1 GiB			# of the file system
 *	packages: [rt-tests, procps]	# on top of the essential ones
 *	exclude: [/usr/share/man/]	# not unpacked
 *	files:				# written into the tree
 *	- path: /etc/hostname
 *	  mode: "0644"
 *	  content: |
 *	    labctl
 *	commands:			# run in the tree, in this order, last
 *	- [systemctl, mask, getty@tty1]
 */

#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"
#include "common/strv.h"
#include "store/hash.h"

struct recipe_file {
	char *path; /* absolute, without ".." */
	mode_t mode;
	char *content;
};

struct recipe {
	char *name; /* file name without directory and .yaml */
	char *path;
	char *suite;
	char *variant;	/* mmdebstrap's: "essential", "minbase", ... */
	uint64_t bytes; /* size of the file system */
	struct lab_strv packages;
	struct lab_strv exclude; /* patterns of paths that dpkg does not unpack */
	struct recipe_file *files;
	size_t n_files;
	struct lab_strv *commands; /* argument vectors */
	size_t n_commands;
};

/* Errors are "FILE:LINE:COL: text". */
int recipe_load(const char *path, struct recipe **ret_recipe, struct lab_error *err) LAB_MUST_CHECK;
/* The same from memory; `name` is the file name it stands for. */
int recipe_parse(const char *name, const char *text, size_t len, struct recipe **ret_recipe,
		 struct lab_error *err) LAB_MUST_CHECK;
void recipe_free(struct recipe *recipe);
LAB_DEFINE_CLEANUP(recipe, struct recipe, recipe_free)

/* Hash of everything the recipe says, however it is laid out, commented or named. */
void recipe_hash(const struct recipe *recipe, char out[HASH_HEX]);

#endif
