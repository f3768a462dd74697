/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pressure stall information, one resource a file:
 *   some avg10=0.00 avg60=0.00 avg300=0.00 total=1234
 * Averages are percent and become hundredths of it ("avg10_x100"), total is in us.
 * With psi=0 the files are there and reading them gives EOPNOTSUPP: unavailable.
 */
#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "guest-agent/collector.h"

static void parse_word(const char *kind, const char *word, const char *what, struct series *series)
{
	const char *equals = strchr(word, '=');
	char key[64];
	int64_t value;

	if (!equals)
		return;
	if (collector_hundredths(equals + 1, &value))
		snprintf(key, sizeof(key), "%s.%.*s_x100", kind, (int)(equals - word), word);
	else if (collector_number(equals + 1, &value))
		snprintf(key, sizeof(key), "%s.%.*s", kind, (int)(equals - word), word);
	else
		return;
	series_put(series, what, key, value);
}

static void parse(const char *text, const char *what, struct series *series)
{
	char line[256], kind[16], word[48];

	while (collector_line(&text, line, sizeof(line))) {
		const char *p = line;
		int used = 0;

		if (sscanf(p, "%15s%n", kind, &used) != 1)
			continue;
		for (p += used; sscanf(p, "%47s%n", word, &used) == 1; p += used)
			parse_word(kind, word, what, series);
	}
}

static const struct collector_file files[] = {
	{"pressure/cpu", "psi.cpu", parse},
	{"pressure/memory", "psi.memory", parse},
	{"pressure/io", "psi.io", parse},
};
const struct collector collector_psi = {"psi", files, LAB_COUNT(files)};
