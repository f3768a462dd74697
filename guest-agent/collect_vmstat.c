/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/vmstat: "pgmajfault 1234"; counts of events and pages since boot, and levels in pages. */
#include "guest-agent/collector.h"

static void parse(const char *text, const char *what, struct series *series)
{
	char line[256], key[64], number[32];
	int64_t value;

	while (collector_line(&text, line, sizeof(line))) {
		const char *p = line;

		if (collector_word(&p, key, sizeof(key)) &&
		    collector_word(&p, number, sizeof(number)) && collector_number(number, &value))
			series_put(series, what, key, value);
	}
}

static const struct collector_file files[] = {{"vmstat", "vmstat", parse}};
const struct collector collector_vmstat = {"vmstat", files, 1};
