/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/campaign_arg.h"

#include <limits.h>

#include "common/num.h"
#include "common/strv.h"
#include "store/campaign.h"

bool run_name_parse(const char *text, struct run_name *ret_name)
{
	LAB_CLEANUP(strv) struct lab_strv parts = LAB_STRV_INIT;
	uint64_t value[3] = {0};

	for (const char *s = text; *s; s++) {
		/* The splitter drops empty parts, which would be misread here. */
		if (*s == '.' && (s == text || s[1] == '.' || s[1] == '\0'))
			return false;
	}
	lab_strv_split(&parts, text, ".");
	if (parts.n < 1 || parts.n > 3)
		return false;
	for (size_t i = 0; i < parts.n; i++) {
		if (lab_parse_u64(parts.items[i], &value[i], NULL) < 0)
			return false;
		if (value[i] == 0 || value[i] > INT_MAX)
			return false;
	}
	ret_name->campaign = (int64_t)value[0];
	ret_name->number = (unsigned)value[1];
	ret_name->attempt = (unsigned)value[2];
	return true;
}

int campaign_arg(struct lab *lab, const char *text, int64_t *ret_id, struct lab_error *err)
{
	LAB_CLEANUP(campaign) struct campaign *newest = NULL;
	struct run_name name;

	if (text) {
		if (!run_name_parse(text, &name) || name.number)
			return lab_error_set(err, LAB_ERR_USAGE,
					     "'%s' is no campaign: `labctl list campaigns` has "
					     "their numbers",
					     text);
		*ret_id = name.campaign;
		return 0;
	}
	if (campaign_newest(lab, NULL, &newest, err) < 0)
		return -1;
	if (!newest)
		return lab_error_set(err, LAB_ERR_NOT_FOUND,
				     "no campaign yet: labctl run EXPERIMENT makes one");
	*ret_id = newest->id;
	return 0;
}
