/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_STORE_BUNDLE_H
#define LAB_STORE_BUNDLE_H

/*
 * A bundle: one tar.zst archive with a file SHA256SUMS, as sha256sum -c reads it, that has
 * every other file in it. What the files mean is the business of experiments/bundle.h.
 */

#include "common/cleanup.h"
#include "common/err.h"

struct bundle_writer;

/* Nothing is written before bundle_close. LAB_ERR_EXISTS when `path` is there already. */
int bundle_new(const char *path, struct bundle_writer **ret_writer,
	       struct lab_error *err) LAB_MUST_CHECK;
/* Paths in the bundle are relative, as in archive/writer.h. Sources stay until bundle_close. */
int bundle_add_text(struct bundle_writer *writer, const char *path, const char *text,
		    struct lab_error *err) LAB_MUST_CHECK;
int bundle_add_file(struct bundle_writer *writer, const char *path, const char *src,
		    struct lab_error *err) LAB_MUST_CHECK;
/* Everything below `dir`; links are carried and not hashed. */
int bundle_add_tree(struct bundle_writer *writer, const char *prefix, const char *dir,
		    struct lab_error *err) LAB_MUST_CHECK;
/* Writes the archive whole or not at all; the writer can only be freed afterwards. */
int bundle_close(struct bundle_writer *writer, struct lab_error *err) LAB_MUST_CHECK;
void bundle_writer_free(struct bundle_writer *writer);
LAB_DEFINE_CLEANUP(bundle_writer, struct bundle_writer, bundle_writer_free)

/*
 * Unpacks a bundle, which may be a stranger's, into `dir` (archive_extract's rules) and checks
 * it: each file is listed and is what the list says. The error names the file.
 */
int bundle_open(const char *path, const char *dir, struct lab_error *err) LAB_MUST_CHECK;

#endif
