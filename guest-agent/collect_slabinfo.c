/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc/slabinfo 2.x, one cache a line:
 *   name active_objs num_objs objsize objperslab pagesperslab
 *   : tunables limit batchcount sharedfactor : slabdata active_slabs num_slabs sharedavail
 * "pages" is num_slabs times pagesperslab: what the cache really takes.
 */
#include <stdio.h>
#include <string.h>

#include "guest-agent/collector.h"

static void parse_cache(char *line, const char *what, struct series *series)
{
	char cache[64], key[96], words[5][24];
	const char *data = strstr(line, ": slabdata ");
	static const char *const names[] = {"active_objs", "num_objs", "objsize"};
	int64_t value, per_slab, slabs;

	if (sscanf(line, "%63s %23s %23s %23s %23s %23s", cache, words[0], words[1], words[2],
		   words[3], words[4]) != 6)
		return;
	for (size_t i = 0; i < 3; i++) {
		if (!collector_number(words[i], &value))
			return;
		snprintf(key, sizeof(key), "%s.%s", cache, names[i]);
		series_put(series, what, key, value);
	}
	if (!data || sscanf(data, ": slabdata %*s %23s", words[0]) != 1 ||
	    !collector_number(words[0], &slabs) || !collector_number(words[4], &per_slab) ||
	    __builtin_mul_overflow(slabs, per_slab, &value))
		return;
	snprintf(key, sizeof(key), "%s.pages", cache);
	series_put(series, what, key, value);
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
