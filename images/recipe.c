/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/recipe.h"

#include <string.h>

#include "common/file.h"
#include "common/mem.h"
#include "config/schema.h"

#define MIN_BYTES (256ULL << 20)
#define MAX_BYTES (1ULL << 40)

/* mmdebstrap's variants that leave dpkg in the tree. */
static const char *const variants[] = {"essential", "apt",	 "required", "minbase",
				       "buildd",    "important", "standard", NULL};

static const struct config_key file_keys[] = {
	{"path", CONFIG_STRING, .required = true},
	{"mode", CONFIG_STRING},
	{"content", CONFIG_STRING, .required = true, .may_be_empty = true},
	{NULL},
};

static const struct config_key recipe_keys[] = {
	{"suite", CONFIG_STRING, .required = true},
	{"variant", CONFIG_STRING, .choices = variants},
	{"size", CONFIG_SIZE, .required = true, .min = MIN_BYTES, .max = MAX_BYTES},
	{"packages", CONFIG_STRINGS, .may_be_empty = true},
	{"exclude", CONFIG_STRINGS, .may_be_empty = true},
	{"files", CONFIG_SEQ, .sub = file_keys, .may_be_empty = true},
	{"commands", CONFIG_SEQ, .element = CONFIG_STRINGS, .may_be_empty = true},
	{NULL},
};

/* What ends up as one word of mmdebstrap's or apt's own little languages. */
static int check_word(const struct config_node *node, const char *what, const char *allowed,
		      struct lab_error *err)
{
	const char *text = config_str(node);
	size_t good = strspn(text, allowed);

	if (text[good])
		return config_error(node, err, "%s '%s' has a '%c' in it", what, text, text[good]);
	if (text[0] == '-')
		return config_error(node, err, "%s '%s' begins with '-'", what, text);
	return 0;
}

static int read_words(const struct config_node *root, const char *key, const char *what,
		      const char *allowed, struct lab_strv *out, struct lab_error *err)
{
	const struct config_node *list = config_map_get(root, key);
	bool one = list && config_str(list);

	for (size_t i = 0; i < config_strings_len(root, key); i++) {
		const struct config_node *node = one ? list : config_seq_at(list, i);

		if (!*config_str(node))
			return config_error(node, err, "%s is empty", what);
		if (check_word(node, what, allowed, err) < 0)
			return -1;
		lab_strv_add(out, config_str(node));
	}
	return 0;
}

static int read_mode(const struct config_node *file, mode_t *ret_mode, struct lab_error *err)
{
	const struct config_node *node = config_map_get(file, "mode");
	const char *text = node ? config_str(node) : "0644";
	mode_t mode = 0;

	if (strlen(text) < 3 || strlen(text) > 4 || text[strspn(text, "01234567")])
		return config_error(node, err,
				    "'mode' must be three or four octal digits, not '%s'", text);
	for (; *text; text++)
		mode = mode * 8 + (mode_t)(*text - '0');
	*ret_mode = mode;
	return 0;
}

/* Absolute, no empty, "." or ".." parts, and no characters that would need care in a hook. */
static int check_path(const struct config_node *node, struct lab_error *err)
{
	const char *path = config_str(node);
	LAB_CLEANUP(strv) struct lab_strv parts = LAB_STRV_INIT;

	if (path[0] != '/' || !path[1] || strstr(path, "//") || lab_ends_with(path, "/"))
		return config_error(node, err,
				    "'path' must be the absolute path of a file, not '%s'", path);
	if (strpbrk(path, "'\"\\\n\t *?[]"))
		return config_error(node, err, "'path' has a blank, quote or wildcard in it: %s",
				    path);
	lab_strv_split(&parts, path, "/");
	if (lab_strv_has(&parts, ".") || lab_strv_has(&parts, ".."))
		return config_error(node, err, "'path' goes through '.' or '..': %s", path);
	return 0;
}

static int read_files(const struct config_node *list, struct recipe *recipe, struct lab_error *err)
{
	if (!list || !config_len(list))
		return 0;
	recipe->files = LAB_NEW_ARRAY(struct recipe_file, config_len(list));
	for (size_t i = 0; i < config_len(list); i++) {
		const struct config_node *node = config_seq_at(list, i);
		struct recipe_file *file = &recipe->files[i];

		if (check_path(config_map_get(node, "path"), err) < 0 ||
		    read_mode(node, &file->mode, err) < 0)
			return -1;
		file->path = lab_strdup(config_get_str(node, "path", ""));
		file->content = lab_strdup(config_get_str(node, "content", ""));
		recipe->n_files++;
		for (size_t j = 0; j < i; j++) {
			if (strcmp(recipe->files[j].path, file->path) == 0)
				return config_error(node, err, "file %s is given twice",
						    file->path);
		}
	}
	return 0;
}

static int read_commands(const struct config_node *list, struct recipe *recipe,
			 struct lab_error *err)
{
	if (!list || !config_len(list))
		return 0;
	recipe->commands = LAB_NEW_ARRAY(struct lab_strv, config_len(list));
	for (size_t i = 0; i < config_len(list); i++) {
		const struct config_node *node = config_seq_at(list, i);
		struct lab_strv *argv = &recipe->commands[i];

		if (config_str(node)) /* nothing here is split at blanks or run by a shell */
			return config_error(node, err,
					    "a command is a list of its words: [%s, ...]",
					    config_str(node));
		recipe->n_commands++;
		for (size_t j = 0; j < config_len(node); j++)
			lab_strv_add(argv, config_str(config_seq_at(node, j)));
		if (!*argv->items[0])
			return config_error(node, err, "the name of the command is empty");
	}
	return 0;
}

#define ALNUM "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

static int read_recipe(const struct config_node *root, struct recipe *recipe, struct lab_error *err)
{
	if (config_check(root, recipe_keys, err) < 0)
		return -1;
	if (check_word(config_map_get(root, "suite"), "suite", ALNUM "-._", err) < 0 ||
	    read_words(root, "packages", "package", ALNUM "+-.:=~", &recipe->packages, err) < 0 ||
	    read_words(root, "exclude", "pattern", ALNUM "+-._/*", &recipe->exclude, err) < 0 ||
	    read_files(config_map_get(root, "files"), recipe, err) < 0 ||
	    read_commands(config_map_get(root, "commands"), recipe, err) < 0)
		return -1;
	recipe->suite = lab_strdup(config_get_str(root, "suite", ""));
	recipe->variant = lab_strdup(config_get_str(root, "variant", "essential"));
	recipe->bytes = config_get_size(root, "size", 0);
	if (recipe->bytes % 4096)
		return config_error(config_map_get(root, "size"), err,
				    "'size' must be a multiple of 4096 bytes");
	return 0;
}

static char *name_of(const char *path)
{
	const char *base = lab_path_base(path);
	size_t len = strlen(base);

	return lab_strndup(base, lab_ends_with(base, ".yaml") ? len - 5 : len);
}

static int from_doc(const struct config_doc *doc, struct recipe **ret_recipe, struct lab_error *err)
{
	LAB_CLEANUP(recipe) struct recipe *recipe = LAB_NEW(struct recipe);

	recipe->path = lab_strdup(config_doc_name(doc));
	recipe->name = name_of(recipe->path);
	if (read_recipe(config_doc_root(doc), recipe, err) < 0)
		return -1;
	*ret_recipe = LAB_TAKE(recipe);
	return 0;
}

int recipe_load(const char *path, struct recipe **ret_recipe, struct lab_error *err)
{
	LAB_CLEANUP(config_doc) struct config_doc *doc = NULL;

	if (config_doc_load(path, &doc, err) < 0)
		return -1;
	return from_doc(doc, ret_recipe, err);
}

int recipe_parse(const char *name, const char *text, size_t len, struct recipe **ret_recipe,
		 struct lab_error *err)
{
	LAB_CLEANUP(config_doc) struct config_doc *doc = NULL;

	if (config_doc_parse(name, text, len, &doc, err) < 0)
		return -1;
	return from_doc(doc, ret_recipe, err);
}

void recipe_free(struct recipe *recipe)
{
	if (!recipe)
		return;
	for (size_t i = 0; i < recipe->n_files; i++) {
		free(recipe->files[i].path);
		free(recipe->files[i].content);
	}
	for (size_t i = 0; i < recipe->n_commands; i++)
		lab_strv_release(&recipe->commands[i]);
	free(recipe->files);
	free(recipe->commands);
	lab_strv_release(&recipe->packages);
	lab_strv_release(&recipe->exclude);
	free(recipe->name);
	free(recipe->path);
	free(recipe->suite);
	free(recipe->variant);
	free(recipe);
}

void recipe_hash(const struct recipe *recipe, char out[HASH_HEX])
{
	LAB_CLEANUP(hash) struct hash *hash = hash_new();
	LAB_CLEANUP(free) char *bytes = lab_asprintf("%llu", (unsigned long long)recipe->bytes);

	hash_add_field(hash, "suite", recipe->suite);
	hash_add_field(hash, "variant", recipe->variant);
	hash_add_field(hash, "bytes", bytes);
	for (size_t i = 0; i < recipe->packages.n; i++)
		hash_add_field(hash, "package", recipe->packages.items[i]);
	for (size_t i = 0; i < recipe->exclude.n; i++)
		hash_add_field(hash, "exclude", recipe->exclude.items[i]);
	for (size_t i = 0; i < recipe->n_files; i++) {
		LAB_CLEANUP(free)
		char *mode = lab_asprintf("%04o", (unsigned)recipe->files[i].mode);

		hash_add_field(hash, "file", recipe->files[i].path);
		hash_add_field(hash, "mode", mode);
		hash_add_field(hash, "content", recipe->files[i].content);
	}
	for (size_t i = 0; i < recipe->n_commands; i++) {
		hash_add_field(hash, "command", NULL);
		for (size_t j = 0; j < recipe->commands[i].n; j++)
			hash_add_field(hash, "word", recipe->commands[i].items[j]);
	}
	hash_hex(hash, out);
}
