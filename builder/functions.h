/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_BUILDER_FUNCTIONS_H
#define LAB_BUILDER_FUNCTIONS_H

/*
 * Which directory of the source each function of a kernel comes from: what neither
 * System.map nor vmlinux tells. Internal.
 */

#include "common/buf.h"
#include "common/err.h"

/*
 * Adds what nm -A says of archives to `names`: "NAME\tDIRECTORY" of each function, sorted,
 * each line once. What the compiler split off or copied ("f.cold") belongs to f.
 */
void functions_parse(const char *nm, struct lab_buf *names);

/*
 * Writes FUNCTIONS_FILE into `dir` from the objects of a build in `obj`. Without nm, or
 * without vmlinux.a (before Linux 6.1), there is none, which is no failure.
 */
int functions_write(const char *obj, const char *dir, struct lab_error *err) LAB_MUST_CHECK;

#define FUNCTIONS_FILE "functions.tsv"

#endif
