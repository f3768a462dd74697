/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_CONFIG_DOC_H
#define LAB_CONFIG_DOC_H

/*
 * One YAML document, read whole into a tree of nodes that all know where they
 * stand, so that every later complaint carries FILE:LINE:COL. What we do not need
 * is refused rather than half supported: several documents in a file, an empty
 * one, duplicate keys, keys that are not scalars, anchors, aliases and tags.
 */

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

/* A larger file is not a configuration. */
#define CONFIG_DOC_MAX ((size_t)1 << 20)

struct config_doc;
/* Borrowed from its document, like every string that comes out of it. */
struct config_node;

enum config_kind {
	CONFIG_SCALAR,
	CONFIG_MAPPING,
	CONFIG_SEQUENCE,
};

/* Reads a file. Errors are "FILE:LINE:COL: text", or name the file that cannot be read. */
int config_doc_load(const char *path, struct config_doc **ret_doc,
		    struct lab_error *err) LAB_MUST_CHECK;
/* The same of `len` bytes in memory; `name` stands for the file in messages. */
int config_doc_parse(const char *name, const char *text, size_t len, struct config_doc **ret_doc,
		     struct lab_error *err) LAB_MUST_CHECK;
void config_doc_free(struct config_doc *doc);
LAB_DEFINE_CLEANUP(config_doc, struct config_doc, config_doc_free)

const struct config_node *config_doc_root(const struct config_doc *doc);
const char *config_doc_name(const struct config_doc *doc);

enum config_kind config_node_kind(const struct config_node *node);
/* "a list", "a map", "text" or "nothing": what the node is, for messages. */
const char *config_node_describe(const struct config_node *node);
/* Entries of a map or elements of a sequence; 0 for a scalar. */
size_t config_len(const struct config_node *node);
/* NULL when the key is missing or the node is not a map. */
const struct config_node *config_map_get(const struct config_node *node, const char *key);
/* Entries in the order of the file. */
const struct config_node *config_map_at(const struct config_node *node, size_t i,
					const char **ret_key);
const struct config_node *config_seq_at(const struct config_node *node, size_t i);
/* The text of a scalar ("" when it says nothing), NULL for anything else. */
const char *config_str(const struct config_node *node);
/* True for a plain scalar that says nothing: `key:`, `key: ~`, `key: null`. */
bool config_is_null(const struct config_node *node);
/* True for a scalar without quotes: only such a one can be a number or a truth value. */
bool config_is_plain(const struct config_node *node);

/* Where the node begins, both from 1. */
unsigned config_line(const struct config_node *node);
unsigned config_column(const struct config_node *node);

/* Sets err (LAB_ERR_INVALID) to "FILE:LINE:COL: text" and returns -1. */
int config_error(const struct config_node *node, struct lab_error *err, const char *fmt, ...)
	LAB_PRINTF(3, 4);
/* The same at the key of entry i of a map. */
int config_key_error(const struct config_node *map, size_t i, struct lab_error *err,
		     const char *fmt, ...) LAB_PRINTF(4, 5);

#endif
