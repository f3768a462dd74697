/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest-agent/job_run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/mem.h"
#include "guest-agent/collector.h"
#include "guest-agent/disks_setup.h"
#include "guest-agent/settings.h"
#include "guest-agent/snapshot.h"
#include "guest-agent/step.h"
#include "protocol/marker.h"

/* How a job ended: the first failure counts. */
struct verdict {
	const char *error; /* MESSAGE_ERR_..., NULL: fine so far */
	char text[2048];
};

int job_run_check(const struct job *job, struct lab_error *err)
{
	for (size_t i = 0; i < job->collect.series.n; i++) {
		if (!collector_find(job->collect.series.items[i]))
			return lab_error_set(err, LAB_ERR_INVALID,
					     "job: this agent has no series '%s'",
					     job->collect.series.items[i]);
	}
	for (size_t i = 0; i < job->collect.snapshots.n; i++) {
		if (!snapshot_known(job->collect.snapshots.items[i]))
			return lab_error_set(err, LAB_ERR_INVALID,
					     "job: this agent has no snapshot '%s'",
					     job->collect.snapshots.items[i]);
	}
	return 0;
}

static void send_snapshot(struct agent *agent, const char *when, const char *name)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	LAB_CLEANUP(free) char *stream = lab_asprintf("snapshot/%s/%s", when, name);
	struct lab_error err;
	size_t pos = 0;

	if (snapshot_take(name, agent->sysroot, &text, &err) < 0) {
		LAB_CLEANUP(free) char *what = lab_asprintf("snapshot.%s", name);

		agent_missing(agent, what, err.errnum ? strerror(err.errnum) : err.text);
		return;
	}
	do {
		size_t len = text.len - pos < MESSAGE_DATA_MAX ? text.len - pos : MESSAGE_DATA_MAX;

		agent_send(agent, message_make_data(stream, (int64_t)pos, (int64_t)lab_now_ns(),
						    text.data ? text.data + pos : "", len));
		pos += len;
	} while (pos < text.len);
}

static void send_snapshots(struct agent *agent, const struct job *job, bool after)
{
	for (size_t i = 0; i < job->collect.snapshots.n; i++) {
		const char *name = job->collect.snapshots.items[i];

		if (snapshot_wanted(name, after))
			send_snapshot(agent, after ? "after" : "before", name);
	}
}

static void run_steps(struct agent *agent, const struct job_phase *phase, struct verdict *verdict)
{
	for (size_t i = 0; i < phase->n_steps && !agent->stop; i++) {
		const struct job_step *step = &phase->steps[i];
		char why[512];

		if (step_run(agent, phase->name, step, why, sizeof(why)) || step->optional ||
		    agent->stop)
			continue;
		if (!verdict->error) {
			verdict->error = MESSAGE_ERR_WORKLOAD;
			snprintf(verdict->text, sizeof(verdict->text), "phase %s: step %s: %s",
				 phase->name, step->name, why);
		}
		return;
	}
}

static void send_phase(struct agent *agent, const struct job_phase *phase, bool end, uint64_t t)
{
	agent_send(agent,
		   message_make_phase(&(struct message_phase){phase->name, end, (int64_t)t}));
}

static void wait_as_told(const struct job *job)
{
	const struct timespec span = {(time_t)(job->wait_ns / 1000000000),
				      (long)(job->wait_ns % 1000000000)};

	if (job->wait_ns)
		nanosleep(&span, NULL);
}

static void run_phase(struct agent *agent, const struct job *job, const struct job_phase *phase,
		      struct verdict *verdict)
{
	bool measured = strcmp(phase->name, JOB_PHASE_RUN) == 0;
	uint64_t end;

	if (measured) {
		wait_as_told(job);
		send_snapshots(agent, job, false);
		marker_begin();
	}
	send_phase(agent, phase, false, lab_now_ns());
	if (measured)
		sampler_start(&agent->sampler, agent);
	run_steps(agent, phase, verdict);
	if (measured)
		sampler_stop(&agent->sampler, agent);
	end = lab_now_ns();
	if (measured)
		marker_end();
	send_phase(agent, phase, true, end);
	if (measured)
		send_snapshots(agent, job, true);
}

static int apply_settings(struct agent *agent, const struct job *job, struct lab_error *err)
{
	for (size_t i = 0; i < job->n_settings; i++) {
		if (setting_apply(agent->sysroot, &job->settings[i], err) < 0)
			return -1;
	}
	return 0;
}

static void prepare(struct agent *agent, const struct job *job, struct verdict *verdict)
{
	struct lab_error err;

	if (agent->init)
		verdict->error = disks_setup(agent, job, &err);
	else if (job->root.disk.serial || job->n_mounts || job->n_swaps)
		agent_log(agent, "info", "not PID 1: the job's disks are left alone");
	if (!verdict->error && apply_settings(agent, job, &err) < 0)
		verdict->error = MESSAGE_ERR_SETTING;
	if (verdict->error)
		snprintf(verdict->text, sizeof(verdict->text), "%s", err.text);
}

void job_run(struct agent *agent, const struct job *job)
{
	struct verdict verdict = {NULL};

	agent->sampler.names = &job->collect.series;
	agent->sampler.interval_ms = job->collect.interval_ms;
	prepare(agent, job, &verdict);
	for (size_t i = 0; i < job->n_phases && !agent->stop; i++) {
		if (!verdict.error || strcmp(job->phases[i].name, JOB_PHASE_CLEANUP) == 0)
			run_phase(agent, job, &job->phases[i], &verdict);
	}
	if (!verdict.error && agent->stop) {
		verdict.error = MESSAGE_ERR_AGENT;
		snprintf(verdict.text, sizeof(verdict.text), "stopped before its end");
	}
	agent_send(agent, message_make_done((int64_t)lab_now_ns(), verdict.error, verdict.text));
}
