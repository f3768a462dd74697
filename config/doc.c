/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config/doc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/file.h"
#include "common/mem.h"
#include "config/node.h"

struct config_node *config_node_new(struct config_doc *doc, enum config_kind kind, unsigned line,
				    unsigned column)
{
	struct config_node *node = LAB_NEW(struct config_node);

	node->doc = doc;
	node->kind = kind;
	node->line = line;
	node->column = column;
	node->next_made = doc->made;
	doc->made = node;
	return node;
}

int config_doc_parse(const char *name, const char *text, size_t len, struct config_doc **ret_doc,
		     struct lab_error *err)
{
	LAB_CLEANUP(config_doc) struct config_doc *doc = LAB_NEW(struct config_doc);

	doc->name = lab_strdup(name);
	if (len > CONFIG_DOC_MAX)
		return lab_error_set(err, LAB_ERR_INVALID, "%s is larger than %zu bytes", name,
				     CONFIG_DOC_MAX);
	if (config_yaml_read(doc, text ? text : "", len, err) < 0)
		return -1;
	*ret_doc = LAB_TAKE(doc);
	return 0;
}

int config_doc_load(const char *path, struct config_doc **ret_doc, struct lab_error *err)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;

	if (lab_read_file(path, CONFIG_DOC_MAX, &text, err) < 0)
		return -1;
	return config_doc_parse(path, text.data, text.len, ret_doc, err);
}

void config_doc_free(struct config_doc *doc)
{
	struct config_node *node, *next;

	if (!doc)
		return;
	for (node = doc->made; node; node = next) {
		next = node->next_made;
		free(node->text);
		free(node->keys);
		free(node->values);
		free(node);
	}
	free(doc->name);
	free(doc);
}

const struct config_node *config_doc_root(const struct config_doc *doc)
{
	return doc->root;
}

const char *config_doc_name(const struct config_doc *doc)
{
	return doc->name;
}

enum config_kind config_node_kind(const struct config_node *node)
{
	return node->kind;
}

const char *config_node_describe(const struct config_node *node)
{
	if (node->kind == CONFIG_MAPPING)
		return "a map";
	if (node->kind == CONFIG_SEQUENCE)
		return "a list";
	return config_is_null(node) ? "nothing" : "text";
}

size_t config_len(const struct config_node *node)
{
	return node->n;
}

const struct config_node *config_map_get(const struct config_node *node, const char *key)
{
	if (!node || node->kind != CONFIG_MAPPING)
		return NULL;
	for (size_t i = 0; i < node->n; i++) {
		if (strcmp(node->keys[i]->text, key) == 0)
			return node->values[i];
	}
	return NULL;
}

const struct config_node *config_map_at(const struct config_node *node, size_t i,
					const char **ret_key)
{
	if (node->kind != CONFIG_MAPPING || i >= node->n)
		return NULL;
	if (ret_key)
		*ret_key = node->keys[i]->text;
	return node->values[i];
}

const struct config_node *config_seq_at(const struct config_node *node, size_t i)
{
	return node->kind == CONFIG_SEQUENCE && i < node->n ? node->values[i] : NULL;
}

const char *config_str(const struct config_node *node)
{
	return node ? node->text : NULL;
}

bool config_is_plain(const struct config_node *node)
{
	return node->kind == CONFIG_SCALAR && node->plain;
}

bool config_is_null(const struct config_node *node)
{
	return config_is_plain(node) &&
	       (!*node->text || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0);
}

unsigned config_line(const struct config_node *node)
{
	return node->line;
}

unsigned config_column(const struct config_node *node)
{
	return node->column;
}

LAB_PRINTF(3, 0)
static int error_at(const struct config_node *node, struct lab_error *err, const char *fmt,
		    va_list ap)
{
	char text[sizeof(err->text)];

	vsnprintf(text, sizeof(text), fmt, ap);
	return lab_error_set(err, LAB_ERR_INVALID, "%s:%u:%u: %s", node->doc->name, node->line,
			     node->column, text);
}

int config_error(const struct config_node *node, struct lab_error *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	error_at(node, err, fmt, ap);
	va_end(ap);
	return -1;
}

int config_key_error(const struct config_node *map, size_t i, struct lab_error *err,
		     const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	error_at(map->kind == CONFIG_MAPPING && i < map->n ? map->keys[i] : map, err, fmt, ap);
	va_end(ap);
	return -1;
}
