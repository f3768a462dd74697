/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/kconfig.h"

#include <ctype.h>
#include <fts.h>
#include <stdio.h>
#include <string.h>

#include "common/file.h"
#include "common/mem.h"
#include "common/nearest.h"

enum { FILE_CAP = 2 << 20 };

/* What a line of a Kconfig file is, as far as we care. */
enum line_kind {
	LINE_NOTHING, /* empty, comment, help text */
	LINE_CONFIG,  /* config or menuconfig NAME */
	LINE_CHOICE,
	LINE_ENDCHOICE,
	LINE_IF,
	LINE_ENDIF,
	LINE_MENU,
	LINE_ENDMENU,
	LINE_OTHER_ENTRY, /* comment "...", source, mainmenu: ends a block */
	LINE_DEPENDS,
	LINE_ATTRIBUTE, /* type, prompt, default, select, ... */
};

struct reader {
	const char *at;
	unsigned number; /* of the line just read */
	const char *line;
	size_t len; /* without white space at both ends */
	size_t indent;
	bool in_help;
	size_t help_indent; /* 0 until the first line of the text */
	bool continued;
};

struct keyword {
	const char *word;
	enum line_kind kind;
};

static const struct keyword keywords[] = {
	{"config", LINE_CONFIG},
	{"menuconfig", LINE_CONFIG},
	{"choice", LINE_CHOICE},
	{"endchoice", LINE_ENDCHOICE},
	{"if", LINE_IF},
	{"endif", LINE_ENDIF},
	{"menu", LINE_MENU},
	{"endmenu", LINE_ENDMENU},
	{"comment", LINE_OTHER_ENTRY},
	{"source", LINE_OTHER_ENTRY},
	{"mainmenu", LINE_OTHER_ENTRY},
	{"depends", LINE_DEPENDS},
};

/* The next line with its indent (tabs to eight); false at the end. */
static bool next_line(struct reader *r)
{
	size_t len;

	if (!*r->at)
		return false;
	len = strcspn(r->at, "\n");
	r->line = r->at;
	r->len = len;
	r->at += len + (r->at[len] == '\n');
	r->number++;
	for (r->indent = 0; r->len && (*r->line == ' ' || *r->line == '\t'); r->line++, r->len--)
		r->indent = *r->line == '\t' ? (r->indent & ~7ul) + 8 : r->indent + 1;
	while (r->len && isspace((unsigned char)r->line[r->len - 1]))
		r->len--;
	return true;
}

static bool is_word(const struct reader *r, const char *word)
{
	size_t len = strlen(word);

	return r->len >= len && strncmp(r->line, word, len) == 0 &&
	       (r->len == len || !(isalnum((unsigned char)r->line[len]) || r->line[len] == '_'));
}

static bool is_help_text(struct reader *r)
{
	if (!r->in_help)
		return false;
	if (!r->len)
		return true;
	if (!r->help_indent && r->indent)
		r->help_indent = r->indent;
	if (r->help_indent && r->indent >= r->help_indent)
		return true;
	r->in_help = false;
	return false;
}

static enum line_kind classify(struct reader *r)
{
	bool continues = r->len && r->line[r->len - 1] == '\\';
	bool was_continued = r->continued;

	if (is_help_text(r))
		return LINE_NOTHING;
	r->continued = continues;
	if (!r->len)
		return LINE_NOTHING;
	if (was_continued)
		return LINE_ATTRIBUTE;
	if (*r->line == '#')
		return LINE_NOTHING;
	if (is_word(r, "help") || is_word(r, "---help---")) {
		r->in_help = true;
		r->help_indent = 0;
		return LINE_NOTHING;
	}
	for (size_t i = 0; i < LAB_COUNT(keywords); i++) {
		if (is_word(r, keywords[i].word))
			return keywords[i].kind;
	}
	return LINE_ATTRIBUTE;
}

/* What stands behind the line's first word; caller frees. */
static char *rest_of(const struct reader *r)
{
	size_t skip = 0;

	while (skip < r->len && !isspace((unsigned char)r->line[skip]))
		skip++;
	while (skip < r->len && isspace((unsigned char)r->line[skip]))
		skip++;
	return lab_strndup(r->line + skip, r->len - skip);
}

static bool has_line(const unsigned *lines, size_t n, unsigned number)
{
	for (size_t i = 0; i < n; i++) {
		if (lines[i] == number)
			return true;
	}
	return false;
}

static void add_symbol(struct lab_strv *symbols, const char *symbol)
{
	if (symbol && *symbol && !lab_strv_has(symbols, symbol))
		lab_strv_add(symbols, symbol);
}

void kconfig_touched(const char *text, const unsigned *lines, size_t n,
		     struct lab_strv *ret_symbols)
{
	struct reader r = {.at = text};
	char *symbol = NULL;	     /* of the block we are in */
	bool in_choice_head = false; /* between "choice" and its first member */
	bool choice_touched = false; /* then every member is */

	while (next_line(&r)) {
		enum line_kind kind = classify(&r);

		if (kind == LINE_NOTHING)
			continue;
		if (kind != LINE_ATTRIBUTE && kind != LINE_DEPENDS) {
			free(LAB_TAKE(symbol));
			in_choice_head = kind == LINE_CHOICE;
			choice_touched = choice_touched && kind == LINE_CONFIG;
		}
		if (kind == LINE_CONFIG)
			symbol = rest_of(&r);
		if (has_line(lines, n, r.number)) {
			choice_touched = choice_touched || in_choice_head;
			add_symbol(ret_symbols, symbol);
		}
		if (kind == LINE_CONFIG && choice_touched)
			add_symbol(ret_symbols, symbol);
	}
	free(symbol);
}

/* ---- why a symbol was dropped ---- */

struct why {
	const char *symbol;
	const struct dotconfig *config;
	const char *tree;
	struct lab_buf text;
	struct lab_nearest nearest;
	char *nearest_name; /* owned: candidates come and go */
};

/* Names the symbols of an expression that are not set. */
static void add_unset(const char *expression, const struct dotconfig *config,
		      struct lab_strv *unset)
{
	for (const char *p = expression; *p;) {
		size_t len = 0;

		while (isalnum((unsigned char)p[len]) || p[len] == '_')
			len++;
		if (len > 1 || (len == 1 && isupper((unsigned char)*p))) {
			LAB_CLEANUP(free) char *name = lab_strndup(p, len);
			const struct dotconfig_item *item = dotconfig_find(config, name);

			if ((isupper((unsigned char)*p) || isdigit((unsigned char)*p)) &&
			    (!item || strcmp(item->value, "n") == 0) && !lab_strv_has(unset, name))
				lab_strv_add(unset, name);
		}
		p += len ? len : 1;
	}
}

static void describe(struct why *why, const char *path, unsigned number,
		     const struct lab_strv *depends)
{
	LAB_CLEANUP(strv) struct lab_strv unset = LAB_STRV_INIT;
	LAB_CLEANUP(free) char *all = lab_strv_join(depends, " && ");
	LAB_CLEANUP(free) char *names = NULL;

	for (size_t i = 0; i < depends->n; i++)
		add_unset(depends->items[i], why->config, &unset);
	names = lab_strv_join(&unset, ", ");
	if (why->text.len)
		lab_buf_adds(&why->text, "; or ");
	if (!depends->n)
		lab_buf_addf(&why->text, "something else decides it (%s:%u)", path, number);
	else
		lab_buf_addf(&why->text, "depends on %s (%s:%u)", all, path, number);
	if (unset.n)
		lab_buf_addf(&why->text, ", where %s %s not set", names,
			     unset.n == 1 ? "is" : "are");
}

/* Conditions around a block: those of "if" and of "menu ... depends on". */
struct scope {
	struct lab_strv conditions; /* "" for a menu or choice until it says what it needs */
	bool open;		    /* the innermost one may still get its "depends on" */
};

static void leave(struct scope *scope)
{
	if (!scope->conditions.n)
		return;
	free(scope->conditions.items[--scope->conditions.n]);
	scope->conditions.items[scope->conditions.n] = NULL;
}

static void need_more(struct scope *scope, const char *condition)
{
	char **last = &scope->conditions.items[scope->conditions.n - 1];
	char *both = **last ? lab_asprintf("%s && %s", *last, condition) : lab_strdup(condition);

	free(*last);
	*last = both;
}

static void add_conditions(const struct scope *scope, struct lab_strv *depends)
{
	for (size_t i = 0; i < scope->conditions.n; i++) {
		if (*scope->conditions.items[i])
			lab_strv_add(depends, scope->conditions.items[i]);
	}
}

/* "on FOO && BAR" without its first word; caller frees. */
static char *dependency(const struct reader *r)
{
	char *rest = rest_of(r);

	if (lab_starts_with(rest, "on") && isspace((unsigned char)rest[2]))
		memmove(rest, rest + 3, strlen(rest + 3) + 1);
	return rest;
}

static void consider_name(struct why *why, const char *name)
{
	const char *before = why->nearest.best;

	lab_nearest_consider(&why->nearest, name);
	if (why->nearest.best == before)
		return;
	free(why->nearest_name);
	why->nearest_name = lab_strdup(name);
	why->nearest.best = why->nearest_name;
}

/* Every definition of the symbol in one file. */
static void look_in(struct why *why, const char *path, const char *text)
{
	struct reader r = {.at = text};
	LAB_CLEANUP(strv) struct lab_strv depends = LAB_STRV_INIT;
	struct scope scope = {.conditions = LAB_STRV_INIT};
	unsigned found = 0; /* line of the definition we are in */

	for (bool more = true; more;) {
		enum line_kind kind = (more = next_line(&r)) ? classify(&r) : LINE_OTHER_ENTRY;
		LAB_CLEANUP(free) char *rest = NULL;

		if (kind == LINE_NOTHING || kind == LINE_ATTRIBUTE)
			continue;
		if (kind == LINE_DEPENDS) {
			rest = dependency(&r);
			if (found)
				lab_strv_add(&depends, rest);
			else if (scope.open && scope.conditions.n)
				need_more(&scope, rest);
			continue;
		}
		if (found) {
			describe(why, path, found, &depends);
			lab_strv_release(&depends);
			found = 0;
		}
		scope.open = kind == LINE_MENU || kind == LINE_CHOICE;
		rest = more ? rest_of(&r) : lab_strdup("");
		if (kind == LINE_IF)
			lab_strv_add(&scope.conditions, rest);
		else if (scope.open)
			lab_strv_add(&scope.conditions, "");
		else if (kind == LINE_ENDIF || kind == LINE_ENDMENU || kind == LINE_ENDCHOICE)
			leave(&scope);
		if (kind == LINE_CONFIG)
			consider_name(why, rest);
		if (kind == LINE_CONFIG && strcmp(rest, why->symbol) == 0) {
			found = r.number;
			add_conditions(&scope, &depends);
		}
	}
	lab_strv_release(&scope.conditions);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void look_everywhere(struct why *why)
{
	char *const paths[] = {(char *)why->tree, NULL};
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	FTSENT *entry;

	if (!fts)
		return;
	while ((entry = fts_read(fts))) {
		LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
		const char *path = entry->fts_path + strlen(why->tree);

		if (entry->fts_info != FTS_F || !lab_starts_with(entry->fts_name, "Kconfig") ||
		    lab_read_file(entry->fts_path, FILE_CAP, &text, NULL) < 0 || !text.data)
			continue;
		look_in(why, path + strspn(path, "/"), text.data);
	}
	fts_close(fts);
}

char *kconfig_why(const char *tree, const char *symbol, const struct dotconfig *config)
{
	struct why why = {
		.symbol = symbol, .config = config, .tree = tree, .nearest = {.word = symbol}};

	look_everywhere(&why);
	if (!why.text.len) {
		lab_buf_adds(&why.text, "this tree has no such symbol");
		if (why.nearest_name)
			lab_buf_addf(&why.text, " (the nearest is %s)", why.nearest_name);
	}
	free(why.nearest_name);
	return lab_buf_take(&why.text);
}
