/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libFuzzer target over config/: whatever comes in, the reader ends, complains at a place
 * inside of the text, and a tree it yields can be walked and checked.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t walk(const struct config_node *node)
{
	size_t n = 1;

	if (config_line(node) < 1 || config_column(node) < 1)
		abort();
	for (size_t i = 0; i < config_len(node); i++) {
		const char *key = NULL;

		if (config_node_kind(node) == CONFIG_SEQUENCE) {
			n += walk(config_seq_at(node, i));
			continue;
		}
		n += walk(config_map_at(node, i, &key));
		if (config_map_get(node, key) != config_map_at(node, i, NULL))
			abort(); /* a key that is there twice */
	}
	if (config_node_kind(node) == CONFIG_SCALAR && !config_str(node))
		abort();
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct config_key leaf[] = {{"name", CONFIG_STRING},
						 {"n", CONFIG_UINT, .max = 9},
						 {"size", CONFIG_SIZE},
						 {NULL}};
	static const struct config_key keys[] = {{"name", CONFIG_STRING, .required = true},
						 {"list", CONFIG_SEQ, .sub = leaf},
						 {"words", CONFIG_STRINGS},
						 {"open", CONFIG_MAP, .open = true, .sub = leaf},
						 {NULL}};
	LAB_CLEANUP(config_doc) struct config_doc *doc = NULL;
	struct lab_error err = {0};

	if (config_doc_parse("f", (const char *)data, size, &doc, &err) < 0) {
		if (err.kind != LAB_ERR_INVALID || strncmp(err.text, "f:", 2) != 0)
			abort();
		return 0;
	}
	walk(config_doc_root(doc));
	if (config_check(config_doc_root(doc), keys, &err) < 0 && strncmp(err.text, "f:", 2) != 0)
		abort();
	return 0;
}
