/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiments/runner.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/num.h"
#include "experiments/again.h"
#include "experiments/boot.h"
#include "experiments/setup.h"
#include "experiments/talk.h"
#include "store/campaign.h"

/* A campaign under way. */
struct work {
	struct setup *setup;
	int64_t campaign;
	struct run_status status;
	uint64_t spent_ms; /* on the runs of this call that came to an end */
	unsigned timed;	   /* how many those are */
	bool emulated_known;
};

static int open_campaign(struct work *w, struct run_result *result, struct lab_error *err)
{
	LAB_CLEANUP(campaign) struct campaign *old = NULL;
	const struct setup *s = w->setup;

	if (campaign_unfinished(s->lab, s->identity, &old, err))
		return -1;
	if (s->request->new_campaign) {
		if (old && campaign_set_state(s->lab, old->id, CAMPAIGN_ABANDONED, err))
			return -1;
		return 0;
	}
	if (!old && campaign_newest(s->lab, s->identity, &old, err))
		return -1;
	if (!old || strcmp(old->state, CAMPAIGN_ABANDONED) == 0)
		return 0;
	w->campaign = old->id;
	result->resumed = true;
	result->already_complete = strcmp(old->state, CAMPAIGN_COMPLETE) == 0;
	return 0;
}

static int create_campaign(struct work *w, struct lab_error *err)
{
	const struct setup *s = w->setup;
	LAB_CLEANUP(free) char *definition = json_dumps(s->definition, JSON_COMPACT);
	struct campaign c = {
		.experiment = s->experiment->name,
		.preset = s->preset->name,
		.target = (char *)s->target_name,
		.identity = (char *)s->identity,
		.definition = definition,
		.seed = s->seed,
		.n = s->n,
		.emulated = s->emulated,
	};

	return campaign_create(s->lab, &c, s->plan->slots, s->plan->n_slots, &w->campaign, err);
}

static void say_kernels(const struct setup *s)
{
	for (size_t i = 0; i < s->kernels.n; i++) {
		const struct kernel *k = &s->kernels.items[i];

		talk(s->progress, k->name, "%s  %.12s", k->label,
		     lab_starts_with(k->key, "file:") ? k->content : k->key);
	}
}

static void say_campaign(const struct work *w, const struct run_result *r)
{
	const struct setup *s = w->setup;

	talk(s->progress, "campaign", "%" PRId64 "  %s/%s  target %s%s  seed %" PRIu64 "  n %u%s",
	     w->campaign, s->experiment->name, s->preset->name, s->target_name,
	     s->emulated ? " (emulated)" : "", s->seed, s->n,
	     r->already_complete ? "  complete"
	     : r->resumed	 ? "  goes on"
				 : "");
}

static void say_plan(const struct setup *s)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;

	lab_buf_addf(&text, "%zu variants", s->experiment->n_variants);
	for (size_t i = 0; i < s->experiment->n_factors; i++)
		lab_buf_addf(&text, " x %zu %s", s->experiment->factors[i].n,
			     s->experiment->factors[i].name);
	lab_buf_addf(&text, " x %u boots = %zu runs", s->n, s->plan->n_slots);
	talk(s->progress, "plan", "%s", text.data);
}

/* Counts for the result and the progress line. */
static int count(struct work *w, struct run_result *result, struct lab_error *err)
{
	struct campaign_progress p;

	if (campaign_progress(w->setup->lab, w->campaign, &p, err))
		return -1;
	w->status.runs = p.slots;
	w->status.finished = p.done + p.outcomes;
	result->planned = p.slots;
	result->done = p.done;
	result->failed = p.outcomes;
	result->missing = p.slots - p.done - p.outcomes;
	w->status.eta_ms = w->timed ? w->spent_ms / w->timed * result->missing : 0;
	return 0;
}

/* The same word, living for ever. */
static const char *static_name(const char *state)
{
	static const char *const states[] = {
		RUN_PLANNED,  RUN_RUNNING,	RUN_DONE,      RUN_PANIC,    RUN_OOPS,
		RUN_OOM,      RUN_HANG,		RUN_STALLED,   RUN_WORKLOAD, RUN_LOST,
		RUN_IO_ERROR, RUN_HOST_TIMEOUT, RUN_CANCELLED,
	};

	for (size_t i = 0; i < LAB_COUNT(states); i++)
		if (strcmp(states[i], state) == 0)
			return states[i];
	return "unknown";
}

static int count_states(struct work *w, struct run_result *result, struct lab_error *err)
{
	LAB_CLEANUP(run_list) struct run_list runs = {0};

	if (run_list(w->setup->lab, w->campaign, true, &runs, err))
		return -1;
	for (size_t i = 0; i < runs.n; i++) {
		const char *state = static_name(runs.items[i]->state);
		size_t at = 0;

		while (at < result->n_counts && result->counts[at].state != state)
			at++;
		if (at == LAB_COUNT(result->counts))
			continue;
		if (at == result->n_counts)
			result->counts[result->n_counts++].state = state;
		result->counts[at].n++;
	}
	return 0;
}

/* Machines and volumes of a labctl that was killed take memory and space. */
static int remove_leftovers(struct work *w, struct lab_error *err)
{
	LAB_CLEANUP(run_list) struct run_list runs = {0};
	const struct setup *s = w->setup;
	unsigned n = 0;

	if (s->stages->clean && s->hypervisor &&
	    s->stages->clean(s->hypervisor, lab_id(s->lab), false, &n, err))
		return -1;
	if (n)
		talk(s->progress, "clean", "destroyed %u machine%s of a labctl that is gone", n,
		     n == 1 ? "" : "s");
	if (run_list(s->lab, w->campaign, false, &runs, err))
		return -1;
	for (size_t i = 0; i < runs.n; i++)
		if (!run_state_is_outcome(runs.items[i]->state))
			boot_remove_leftovers(runs.items[i]->dir);
	return 0;
}

static int note_emulation(struct work *w, bool emulated, struct lab_error *err)
{
	if (w->emulated_known)
		return 0;
	w->emulated_known = true;
	if (emulated == w->setup->emulated)
		return 0;
	return campaign_set_emulated(w->setup->lab, w->campaign, emulated, err);
}

static bool is_checked(const struct work *w, unsigned number)
{
	unsigned every = w->setup->request->check_every;

	return every && (number - 1) % every == 0;
}

/* The run that has just ended, once more: it must be the same to the byte. */
static int check_again(struct work *w, const struct run *begun, const char *name,
		       struct run_result *result, struct lab_error *err)
{
	LAB_CLEANUP(again_result) struct again_result again = {0};
	LAB_CLEANUP(run) struct run *run = NULL;

	if (run_get(w->setup->lab, w->campaign, begun->number, begun->attempt, &run, err))
		return -1;
	if (again_boot(w->setup, run, &w->status, &again, err)) {
		if (err && err->kind == LAB_ERR_CANCELLED)
			result->cancelled = true;
		return result->cancelled ? 0 : -1;
	}
	if (!again.equal)
		return lab_error_set(
			err, LAB_ERR_FAILED,
			"run %s and the same run once more are not equal: %s; the other "
			"one's files are in %s",
			name, again.difference, again.dir);
	result->checked++;
	return 0;
}

/* One attempt at one slot, from the row to the row. *ret_fault: it must be repeated. */
static int attempt(struct work *w, const struct run *slot, bool *ret_fault,
		   struct run_result *result, struct lab_error *err)
{
	LAB_CLEANUP(boot_result) struct boot_result boot = {0};
	const struct run_progress *progress = w->setup->progress;
	LAB_CLEANUP(run) struct run *run = NULL;
	char name[32];

	if (run_begin(w->setup->lab, w->campaign, slot->number, &run, err))
		return -1;
	w->status.run = run->number;
	w->status.variant = run->variant;
	w->status.cell = run->cell;
	boot_run(w->setup, run, &w->status, &boot);
	if (run_finish(w->setup->lab, run->id, boot.verdict.state, boot.verdict.message, boot.facts,
		       boot.fingerprint, &boot.sample, err))
		return lab_error_wrap(err, "run %" PRId64 ".%u", w->campaign, run->number);
	*ret_fault = run_state_is_fault(boot.verdict.state);
	result->cancelled = strcmp(boot.verdict.state, RUN_CANCELLED) == 0;
	if (!*ret_fault) {
		w->spent_ms += boot.ms;
		w->timed++;
	}
	if (!boot.hopeless && note_emulation(w, boot.emulated, err))
		return -1;
	if (count(w, result, err))
		return -1;
	snprintf(name, sizeof(name), "%" PRId64 ".%u", w->campaign, run->number);
	if (progress && progress->run_ended)
		progress->run_ended(progress->ctx, &w->status, name, boot.verdict.state,
				    boot.verdict.message);
	if (boot.hopeless)
		return lab_error_set(err, LAB_ERR_FAILED, "run %s: %s", name, boot.verdict.message);
	if (*ret_fault || !is_checked(w, run->number))
		return 0;
	return check_again(w, run, name, result, err);
}

/*
 * Once through what is missing. Two lab faults one after the other mean that it is
 * not this run but the lab: burning through the rest of the plan would help nobody.
 */
static int run_plan(struct work *w, struct run_result *result, struct lab_error *err)
{
	unsigned after = 0, faults = 0;

	while (!result->cancelled) {
		LAB_CLEANUP(run) struct run *slot = NULL;
		bool fault = false;

		if (talk_cancelled(w->setup->progress)) {
			result->cancelled = true;
			break;
		}
		if (run_next(w->setup->lab, w->campaign, after, &slot, err))
			return -1;
		if (!slot)
			break;
		after = slot->number;
		if (attempt(w, slot, &fault, result, err))
			return -1;
		faults = fault ? faults + 1 : 0;
		if (!fault || result->cancelled)
			continue;
		if (faults == 2)
			return lab_error_set(err, LAB_ERR_FAILED,
					     "two lab faults one after the other (see run %" PRId64
					     ".%u): stopped; the same command goes on",
					     w->campaign, after);
		if (setup_reconnect(w->setup, err))
			return lab_error_wrap(err, "after run %" PRId64 ".%u", w->campaign, after);
	}
	return 0;
}

static int run_campaign(struct work *w, struct run_result *result, struct lab_error *err)
{
	struct setup *s = w->setup;

	if (open_campaign(w, result, err) || (!w->campaign && create_campaign(w, err)))
		return -1;
	result->campaign = w->campaign;
	result->emulated = s->emulated;
	w->status.campaign = w->campaign;
	say_campaign(w, result);
	say_kernels(s);
	if (count(w, result, err))
		return -1;
	if (!result->already_complete) {
		say_plan(s);
		if (remove_leftovers(w, err))
			return -1;
	}
	return result->already_complete ? 0 : run_plan(w, result, err);
}

static int dry_run(const struct setup *s, struct run_result *result)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;

	say_plan(s);
	plan_text(s->plan, &text);
	result->planned = (unsigned)s->plan->n_slots;
	result->missing = result->planned;
	result->plan = lab_buf_take(&text);
	return 0;
}

static int with_lock(struct setup *s, struct run_result *result, struct lab_error *err)
{
	LAB_CLEANUP(free) char *what = lab_asprintf("run %s", s->request->experiment);
	LAB_CLEANUP(lab_lock) struct lab_lock *lock = NULL;
	struct work work = {.setup = s};
	struct lab_error why;
	int rc;

	if (lab_lock(s->lab, what, &lock, err))
		return -1;
	if (setup_resolve(s, err)) {
		result->cancelled = err && err->kind == LAB_ERR_CANCELLED;
		return -1;
	}
	rc = run_campaign(&work, result, err);
	if (work.campaign && (count(&work, result, &why) || count_states(&work, result, &why)) &&
	    rc == 0) {
		if (err)
			*err = why;
		return -1;
	}
	return rc;
}

int campaign_run(struct lab *lab, const struct run_request *request,
		 const struct run_progress *progress, struct run_result *ret_result,
		 struct lab_error *err)
{
	LAB_CLEANUP(setup) struct setup setup = {0};

	*ret_result = (struct run_result){0};
	if (setup_plan(&setup, lab, request, progress, err))
		return -1;
	if (request->dry_run)
		return dry_run(&setup, ret_result);
	return with_lock(&setup, ret_result, err);
}

void run_result_release(struct run_result *result)
{
	free(result->plan);
	result->plan = NULL;
}
