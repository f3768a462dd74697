/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_BUILDER_DIGEST_H
#define LAB_BUILDER_DIGEST_H

/*
 * The first thing that went wrong in what make and its children said, in one line:
 * "mm/slub.c:12:5: error: 'x' undeclared", with the package that brings a tool or header
 * that is missing. `tree` and `obj` (directories) are taken off of paths. Caller frees;
 * NULL when nothing in it looks like an error.
 */
char *digest_failure(const char *log, const char *tree, const char *obj);

/* "apt-get install flex" for a program or header of a kernel build, or NULL. Borrowed. */
const char *digest_package(const char *tool);

#endif
