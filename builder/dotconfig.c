/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/dotconfig.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/mem.h"

enum { FILE_CAP = 4 << 20 };

static const char prefix[] = "CONFIG_", not_set[] = " is not set";

static bool is_symbol(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (!isalnum((unsigned char)s[i]) && s[i] != '_')
			return false;
	}
	return len > 0;
}

/* Appends symbol=value when they are well formed; takes `value` over in any case. */
static int append(struct dotconfig *config, const char *symbol, size_t symbol_len, char *value,
		  const char *origin, bool optional, struct lab_error *err)
{
	bool text = value[0] == '"';
	size_t len = strlen(value);

	if (!is_symbol(symbol, symbol_len) || !len ||
	    (text && (len < 2 || value[len - 1] != '"')) || (!text && strpbrk(value, " \t\"#"))) {
		lab_error_set(err, LAB_ERR_INVALID, "%s: '%.*s=%s' is no CONFIG_SYMBOL=value",
			      origin, (int)symbol_len, symbol, value);
		free(value);
		return -1;
	}
	LAB_GROW(config->items, config->n, config->cap);
	config->items[config->n++] = (struct dotconfig_item){
		.symbol = lab_strndup(symbol, symbol_len),
		.value = value,
		.origin = lab_strdup(origin),
		.optional = optional,
	};
	return 0;
}

int dotconfig_add(struct dotconfig *config, const char *assignment, const char *origin,
		  struct lab_error *err)
{
	const char *symbol = assignment, *equals = strchr(assignment, '=');
	size_t len;
	bool optional;

	if (!equals)
		return lab_error_set(err, LAB_ERR_INVALID, "%s: '%s' is no CONFIG_SYMBOL=value",
				     origin, assignment);
	if (lab_starts_with(symbol, prefix))
		symbol += strlen(prefix);
	len = strlen(equals + 1);
	while (len && isspace((unsigned char)equals[len]))
		len--;
	optional = len && equals[len] == '?';
	len -= optional;
	return append(config, symbol, (size_t)(equals - symbol), lab_strndup(equals + 1, len),
		      origin, optional, err);
}

static int parse_line(struct dotconfig *config, const char *line, const char *origin,
		      struct lab_error *err)
{
	const char *symbol = line + 2;

	line += strspn(line, " \t\r");
	if (!*line)
		return 0;
	if (*line != '#')
		return dotconfig_add(config, line, origin, err);
	symbol = line + 1 + strspn(line + 1, " ");
	if (!lab_starts_with(symbol, prefix) || !lab_ends_with(symbol, not_set))
		return 0;
	symbol += strlen(prefix);
	return append(config, symbol, strlen(symbol) - strlen(not_set), lab_strdup("n"), origin,
		      false, err);
}

int dotconfig_parse(const char *name, const char *text, struct dotconfig *ret_config,
		    struct lab_error *err)
{
	LAB_CLEANUP(dotconfig) struct dotconfig config = DOTCONFIG_INIT;
	unsigned number = 0;

	for (const char *at = text; *at;) {
		size_t len = strcspn(at, "\n");
		LAB_CLEANUP(free) char *line = lab_strndup(at, len);
		LAB_CLEANUP(free) char *origin = lab_asprintf("%s:%u", name, ++number);

		if (parse_line(&config, line, origin, err) < 0)
			return -1;
		at += len + (at[len] == '\n');
	}
	*ret_config = config;
	config = (struct dotconfig)DOTCONFIG_INIT;
	return 0;
}

int dotconfig_load(const char *path, struct dotconfig *ret_config, struct lab_error *err)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;

	if (lab_read_file(path, FILE_CAP, &text, err) < 0)
		return lab_error_wrap(err, "config");
	return dotconfig_parse(lab_path_base(path), text.data ? text.data : "", ret_config, err);
}

static void item_release(struct dotconfig_item *item)
{
	free(item->symbol);
	free(item->value);
	free(item->origin);
}

static int compare_items(const void *a, const void *b)
{
	const struct dotconfig_item *x = *(const struct dotconfig_item *const *)a;
	const struct dotconfig_item *y = *(const struct dotconfig_item *const *)b;
	int c = strcmp(x->symbol, y->symbol);

	/* Both lie in one array: of equal symbols the earlier one stays first. */
	return c ? c : x < y ? -1 : x > y;
}

void dotconfig_sort(struct dotconfig *config)
{
	const struct dotconfig_item **order;
	struct dotconfig_item *sorted;
	size_t n = 0;

	if (!config->n)
		return;
	order = lab_calloc(config->n, sizeof(struct dotconfig_item *));
	sorted = LAB_NEW_ARRAY(struct dotconfig_item, config->n);
	for (size_t i = 0; i < config->n; i++)
		order[i] = &config->items[i];
	qsort(order, config->n, sizeof(struct dotconfig_item *), compare_items);
	for (size_t i = 0; i < config->n; i++) {
		if (n && strcmp(sorted[n - 1].symbol, order[i]->symbol) == 0)
			item_release(&sorted[--n]);
		sorted[n++] = *order[i];
	}
	free(order);
	free(config->items);
	config->items = sorted;
	config->cap = config->n;
	config->n = n;
}

static int compare_key(const void *key, const void *item)
{
	return strcmp(key, ((const struct dotconfig_item *)item)->symbol);
}

const struct dotconfig_item *dotconfig_find(const struct dotconfig *config, const char *symbol)
{
	return config->n ? bsearch(symbol, config->items, config->n, sizeof(*config->items),
				   compare_key)
			 : NULL;
}

void dotconfig_format(const struct dotconfig *config, struct lab_buf *buf)
{
	for (size_t i = 0; i < config->n; i++) {
		const struct dotconfig_item *item = &config->items[i];

		if (strcmp(item->value, "n") == 0)
			lab_buf_addf(buf, "# CONFIG_%s is not set\n", item->symbol);
		else
			lab_buf_addf(buf, "CONFIG_%s=%s\n", item->symbol, item->value);
	}
}

void dotconfig_release(struct dotconfig *config)
{
	for (size_t i = 0; i < config->n; i++)
		item_release(&config->items[i]);
	free(config->items);
	*config = (struct dotconfig)DOTCONFIG_INIT;
}

bool dotconfig_satisfied(const char *asked, const char *got)
{
	got = got ? got : "n";
	if (strcmp(asked, got) == 0)
		return true;
	return strcmp(asked, "m") == 0 && strcmp(got, "y") == 0;
}
