/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/render.h"

#include <string.h>

static const struct report_format formats[] = {
	{"text", "intervals of the difference, 72 columns", report_text},
	{"ab", "A/B table of all values, as wide as it is", report_ab},
	{"json", "everything, for programs (docs/json.md)", report_json},
	{"csv", "one row per value", report_csv},
	{NULL, NULL, NULL},
};

const struct report_format *report_formats(void)
{
	return formats;
}

int report_format_find(const char *name, const struct report_format **ret, struct lab_error *err)
{
	LAB_CLEANUP(buf) struct lab_buf names = LAB_BUF_INIT;

	for (const struct report_format *f = formats; f->name; f++) {
		if (strcmp(f->name, name) == 0) {
			*ret = f;
			return 0;
		}
		lab_buf_addf(&names, "%s%s", names.len ? ", " : "", f->name);
	}
	return lab_error_set(err, LAB_ERR_USAGE, "no report format '%s'; there is: %s", name,
			     names.data);
}
