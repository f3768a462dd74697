/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_CLI_CAMPAIGN_ARG_H
#define LAB_CLI_CAMPAIGN_ARG_H

/* Campaigns and runs as people write them: "7", "7.41", "7.41.2" (second attempt). */

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

struct lab;

struct run_name {
	int64_t campaign;
	unsigned number;  /* 0: the campaign as a whole */
	unsigned attempt; /* 0: the newest */
};

/* False when the text has another form; no lab is asked. */
bool run_name_parse(const char *text, struct run_name *ret_name);

/* The id that `text` means; NULL means the newest campaign of the lab. */
int campaign_arg(struct lab *lab, const char *text, int64_t *ret_id,
		 struct lab_error *err) LAB_MUST_CHECK;

#endif
