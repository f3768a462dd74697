/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/loadavg: "0.20 0.18 0.12 1/80 11206": three averages (in hundredths here), tasks, last pid. */
#include <stdio.h>
#include <string.h>

#include "guest-agent/collector.h"

static void parse(const char *text, const char *what, struct series *series)
{
	static const char *const names[] = {"load1_x100", "load5_x100", "load15_x100"};
	char load[3][24], running[24], total[24];
	int64_t value;

	if (sscanf(text, "%23s %23s %23s %23[^/]/%23s", load[0], load[1], load[2], running,
		   total) != 5)
		return;
	for (size_t i = 0; i < 3; i++) {
		if (collector_hundredths(load[i], &value))
			series_put(series, what, names[i], value);
	}
	if (collector_number(running, &value))
		series_put(series, what, "running", value);
	if (collector_number(total, &value))
		series_put(series, what, "tasks", value);
}

static const struct collector_file files[] = {{"loadavg", "loadavg", parse}};
const struct collector collector_loadavg = {"loadavg", files, 1};
