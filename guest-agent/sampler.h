/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_GUEST_SAMPLER_H
#define LAB_GUEST_SAMPLER_H

/* Takes rows of the job's series: one before, some meanwhile, one after. */

#include <stdint.h>

#include "guest-agent/series.h"

struct agent;

struct sampler {
	struct series series;
	const struct lab_strv *names; /* collectors of the job; NULL: nothing to take */
	uint64_t interval_ms;
	uint64_t next_ms; /* when the next row is due; 0: not running */
};

void sampler_start(struct sampler *sampler, struct agent *agent);
void sampler_tick(struct sampler *sampler, struct agent *agent, uint64_t now_ms);
void sampler_stop(struct sampler *sampler, struct agent *agent);
void sampler_release(struct sampler *sampler);

#endif
