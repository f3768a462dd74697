/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_CONFIG_NODE_H
#define LAB_CONFIG_NODE_H

/* Private to config/: the tree that yaml.c builds and doc.c walks. */

#include "common/err.h"
#include "config/doc.h"

struct config_node {
	const struct config_doc *doc;
	struct config_node *next_made; /* every node of the document, for the release */
	enum config_kind kind;
	bool plain;
	unsigned line, column;	   /* from 1 */
	char *text;		   /* scalar; never NULL there */
	struct config_node **keys; /* map: scalars, as many as values */
	struct config_node **values;
	size_t n, keys_cap, values_cap;
};

struct config_doc {
	char *name;
	struct config_node *root;
	struct config_node *made;
};

struct config_node *config_node_new(struct config_doc *doc, enum config_kind kind, unsigned line,
				    unsigned column);

/* Fills doc->root from YAML text (config/yaml.c). */
int config_yaml_read(struct config_doc *doc, const char *text, size_t len,
		     struct lab_error *err) LAB_MUST_CHECK;

#endif
