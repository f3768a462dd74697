/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc/stat: the first line's times of all CPUs together, in ticks of 1/100 s (steal
 * is what the host took), and the single counters. The long per-interrupt lists are
 * left out but for their sums.
 */
#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "guest-agent/collector.h"

static void parse_cpu(const char *p, const char *what, struct series *series)
{
	static const char *const names[] = {"user", "nice",    "system", "idle",  "iowait",
					    "irq",  "softirq", "steal",	 "guest", "guest_nice"};
	char word[24], key[32];
	int64_t value;
	int used;

	for (size_t i = 0; i < LAB_COUNT(names) && sscanf(p, "%23s%n", word, &used) == 1; i++) {
		p += used;
		if (!collector_number(word, &value))
			continue;
		snprintf(key, sizeof(key), "cpu.%s", names[i]);
		series_put(series, what, key, value);
	}
}

static void parse(const char *text, const char *what, struct series *series)
{
	char line[512], key[32], word[24];
	int64_t value;

	while (collector_line(&text, line, sizeof(line))) {
		if (strncmp(line, "cpu ", 4) == 0)
			parse_cpu(line + 4, what, series);
		else if (strncmp(line, "cpu", 3) != 0 &&
			 sscanf(line, "%31s %23s", key, word) == 2 &&
			 collector_number(word, &value))
			series_put(series, what, key, value);
	}
}

static const struct collector_file files[] = {{"stat", "stat", parse}};
const struct collector collector_stat = {"stat", files, 1};
