/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/strv.h"

#define MAP_MAX (64u << 20)	 /* bytes of a System.map */
#define TEXT_SPAN (256ull << 20) /* no kernel's code is longer */
/* arch/x86/Kconfig: PHYSICAL_ALIGN's least value, KERNEL_IMAGE_SIZE with RANDOMIZE_BASE. */
#define SHIFT_STEP (2ull << 20)
#define SHIFT_MAX (1ull << 30)

/* That many blocks must begin where functions do, and twice as many as for any other shift. */
enum { SHIFT_LEAST = 16, SHIFT_LOOK = 20000 };

struct symbol {
	uint64_t address;
	const char *name; /* in the text, cut at its first dot */
};

struct symbols {
	char *text;
	struct symbol *items;
	size_t n, cap;
	uint64_t end; /* of the last one, or UINT64_MAX: not known */
};

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	free(s->text);
	free(s->items);
	free(s);
}

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* "ffffffff81000000 T _text" */
static void take_line(struct symbols *s, char *line)
{
	char *at, *name;
	uint64_t address = strtoull(line, &at, 16);

	if (at == line || at[0] != ' ' || !at[1] || at[2] != ' ')
		return;
	name = at + 3;
	if (strcmp(name, "_etext") == 0 || strcmp(name, "_einittext") == 0) {
		if (s->end == UINT64_MAX || address > s->end)
			s->end = address;
		return;
	}
	if (!strchr("tTwW", at[1]) || !address)
		return;
	if (*name && *name != '.')
		name[strcspn(name, ".")] = '\0';
	LAB_GROW(s->items, s->n, s->cap);
	s->items[s->n++] = (struct symbol){address, name};
}

int symbols_load(const char *path, struct symbols **ret_symbols, struct lab_error *err)
{
	LAB_CLEANUP(symbols) struct symbols *s = LAB_NEW(struct symbols);
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	char *line, *rest;

	if (lab_read_file(path, MAP_MAX, &text, err) < 0)
		return -1;
	s->end = UINT64_MAX;
	s->text = lab_buf_take(&text);
	rest = s->text;
	while ((line = strsep(&rest, "\n")))
		take_line(s, line);
	if (!s->n)
		return lab_error_set(err, LAB_ERR_INVALID, "%s names no function", path);
	qsort(s->items, s->n, sizeof(*s->items), by_address);
	*ret_symbols = LAB_TAKE(s);
	return 0;
}

/* "__sched_text_start": where a section of code begins or ends, not what is there. */
static bool is_mark(const char *name)
{
	return lab_ends_with(name, "_start") || lab_ends_with(name, "_end");
}

/* Of several names for one place the first function's in the alphabet. `i`: the last one. */
static const char *name_at(const struct symbols *s, size_t i)
{
	const char *name = s->items[i].name;

	while (i && s->items[i - 1].address == s->items[i].address) {
		i--;
		if (!is_mark(s->items[i].name) || is_mark(name))
			name = s->items[i].name;
	}
	return name;
}

const char *symbols_at(const struct symbols *s, uint64_t address)
{
	size_t low = 0, high = s->n;

	if (address >= s->end || address < s->items[0].address)
		return NULL;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (s->items[middle].address <= address)
			low = middle;
		else
			high = middle;
	}
	return name_at(s, low);
}

/* One bit for each byte at which a function begins. */
static unsigned char *beginnings(const struct symbols *s, uint64_t *ret_span)
{
	uint64_t first = s->items[0].address, span = s->items[s->n - 1].address - first + 1;
	unsigned char *bits;

	*ret_span = span < TEXT_SPAN ? span : TEXT_SPAN;
	bits = LAB_NEW_ARRAY(unsigned char, *ret_span / 8 + 1);
	for (size_t i = 0; i < s->n && s->items[i].address - first < *ret_span; i++) {
		uint64_t at = s->items[i].address - first;

		bits[at / 8] |= (unsigned char)(1u << at % 8);
	}
	return bits;
}

int symbols_shift(const struct symbols *s, const uint64_t *addresses, size_t n, uint64_t *ret_shift,
		  struct lab_error *err)
{
	uint64_t span, first = s->items[0].address;
	LAB_CLEANUP(free) unsigned char *bits = beginnings(s, &span);
	size_t step = n / SHIFT_LOOK + 1, best = 0, second = 0;

	*ret_shift = 0;
	for (uint64_t shift = 0; shift < SHIFT_MAX; shift += SHIFT_STEP) {
		size_t hits = 0;

		for (size_t i = 0; i < n; i += step) {
			uint64_t at = addresses[i] - first - shift;

			hits += at < span && bits[at / 8] >> at % 8 & 1;
		}
		if (hits > best) {
			second = best;
			best = hits;
			*ret_shift = shift;
		} else if (hits > second) {
			second = hits;
		}
	}
	if (best < SHIFT_LEAST || best < 2 * second)
		return lab_error_set(err, LAB_ERR_NOT_FOUND,
				     "the symbols are not those of the kernel that ran: %zu of its "
				     "blocks begin where a function does",
				     best);
	return 0;
}
