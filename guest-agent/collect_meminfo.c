/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/meminfo: "MemFree:         1234 kB"; values stay in the file's unit, which is kB for most. */
#include <string.h>

#include "guest-agent/collector.h"

static void parse(const char *text, const char *what, struct series *series)
{
	char line[256], number[32];
	int64_t value;

	while (collector_line(&text, line, sizeof(line))) {
		char *colon = strchr(line, ':');
		const char *p = colon ? colon + 1 : "";

		if (!colon || !collector_word(&p, number, sizeof(number)) ||
		    !collector_number(number, &value))
			continue;
		*colon = '\0';
		series_put(series, what, line, value);
	}
}

static const struct collector_file files[] = {{"meminfo", "meminfo", parse}};
const struct collector collector_meminfo = {"meminfo", files, 1};
