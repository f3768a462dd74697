/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest-agent/sampler.h"

#include "common/clock.h"
#include "guest-agent/agent.h"
#include "guest-agent/collector.h"

static void missing(void *ctx, const char *what, const char *why)
{
	agent_missing(ctx, what, why);
}

static void take_row(struct sampler *sampler, struct agent *agent, enum message_mark mark)
{
	LAB_CLEANUP(buf) struct lab_buf row = LAB_BUF_INIT;
	int64_t t_ns = (int64_t)lab_now_ns();
	bool was_full = sampler->series.full;
	json_t *names;

	series_begin(&sampler->series);
	for (size_t i = 0; i < sampler->names->n; i++)
		collector_read(collector_find(sampler->names->items[i]), agent->sysroot,
			       &sampler->series, missing, agent);
	names = series_take_names(&sampler->series);
	if (names)
		agent_send(agent, names);
	series_take_row(&sampler->series, t_ns, mark, &row);
	agent_send_text(agent, &row);
	if (sampler->series.full && !was_full)
		agent_log(agent, "warn", "more than %d series: the rest is not sampled",
			  MESSAGE_NAMES_MAX);
}

void sampler_start(struct sampler *sampler, struct agent *agent)
{
	if (!sampler->names || !sampler->names->n)
		return;
	take_row(sampler, agent, MESSAGE_MARK_BEFORE);
	if (sampler->interval_ms)
		sampler->next_ms = lab_now_ms() + sampler->interval_ms;
}

void sampler_tick(struct sampler *sampler, struct agent *agent, uint64_t now_ms)
{
	if (!sampler->next_ms || now_ms < sampler->next_ms)
		return;
	take_row(sampler, agent, MESSAGE_MARK_NONE);
	/* A late row is not made up for by two early ones. */
	do {
		sampler->next_ms += sampler->interval_ms;
	} while (sampler->next_ms <= now_ms);
}

void sampler_stop(struct sampler *sampler, struct agent *agent)
{
	sampler->next_ms = 0;
	if (sampler->names && sampler->names->n)
		take_row(sampler, agent, MESSAGE_MARK_AFTER);
}

void sampler_release(struct sampler *sampler)
{
	series_release(&sampler->series);
	sampler->names = NULL;
	sampler->next_ms = 0;
}
