/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc/slabinfo 2.x, one cache a line:
 *   name active_objs num_objs objsize objperslab pagesperslab
 *   : tunables limit batchcount sharedfactor : slabdata active_slabs num_slabs sharedavail
 * "pages" is num_slabs times pagesperslab: what the cache really takes.
 */
#include <string.h>

#include "guest-agent/collector.h"

/* Copies text without its end and returns where it ended. */
static char *append(char *at, const char *text)
{
	while (*text)
		*at++ = *text++;
	return at;
}

/* Puts "CACHE.FIELD": 63 characters and the longest field at most. */
static void put(struct series *series, const char *what, const char *cache, const char *field,
		int64_t value)
{
	char key[96], *end = append(key, cache);

	*end++ = '.';
	end = append(end, field);
	*end = '\0';
	series_put(series, what, key, value);
}

static void parse_cache(const char *line, const char *what, struct series *series)
{
	enum { ACTIVE, ALL, SIZE, PER_SLAB, PAGES, WORDS };
	static const char *const names[] = {"active_objs", "num_objs", "objsize"};
	const char *data = strstr(line, ": slabdata ");
	char cache[64], word[24];
	int64_t values[WORDS], slabs;

	if (!collector_word(&line, cache, sizeof(cache)))
		return;
	for (size_t i = 0; i < WORDS; i++) {
		if (!collector_word(&line, word, sizeof(word)) ||
		    !collector_number(word, &values[i]))
			return;
	}
	for (size_t i = ACTIVE; i <= SIZE; i++)
		put(series, what, cache, names[i], values[i]);
	if (!data)
		return;
	data += strlen(": slabdata ");
	if (!collector_word(&data, word, sizeof(word)) || /* active_slabs */
	    !collector_word(&data, word, sizeof(word)) || !collector_number(word, &slabs) ||
	    __builtin_mul_overflow(slabs, values[PAGES], &slabs))
		return;
	put(series, what, cache, "pages", slabs);
}

static void parse(const char *text, const char *what, struct series *series)
{
	char line[512];

	while (collector_line(&text, line, sizeof(line))) {
		if (line[0] != '#' && strncmp(line, "slabinfo ", 9) != 0)
			parse_cache(line, what, series);
	}
}

static const struct collector_file files[] = {{"slabinfo", "slabinfo", parse}};
const struct collector collector_slabinfo = {"slabinfo", files, 1};
