/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/meminfo: "MemFree:         1234 kB"; values stay in the file's unit, which is kB for most. */
#include <stdio.h>
#include <string.h>

#include "guest-agent/collector.h"

static void parse(const char *text, const char *what, struct series *series)
{
	char line[256], key[64], number[32];
	int64_t value;

	while (collector_line(&text, line, sizeof(line))) {
		if (sscanf(line, "%63[^:]: %31s", key, number) == 2 &&
		    collector_number(number, &value))
			series_put(series, what, key, value);
	}
}

static const struct collector_file files[] = {{"meminfo", "meminfo", parse}};
const struct collector collector_meminfo = {"meminfo", files, 1};
