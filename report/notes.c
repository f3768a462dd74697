/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/notes.h"

#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "common/strv.h"
#include "report/compare.h"
#include "report/wrap.h"
#include "store/artifact.h"
#include "store/state.h"

/* More than this many runs in one footnote are counted, not named. */
#define NAMED 8

/* The digits of a key that people see; of a long path its end. */
static const char *short_kernel(const char *kernel, char *text, size_t size)
{
	const char *colon = strchr(kernel, ':');
	size_t len = strlen(kernel);

	if (kernel[0] == '/')
		snprintf(text, size, "%s%s", len < size ? "" : "...",
			 len < size ? kernel : kernel + len - (size - 4));
	else
		snprintf(text, size, "%.*s", (int)(colon ? colon - kernel + 1 : 0) + ARTIFACT_SHORT,
			 kernel);
	return text;
}

static void add_kernels(const struct report_model *m, struct lab_buf *out)
{
	size_t name = 0;
	size_t label = 0;
	char kernel[40];

	for (size_t i = 0; i < m->n_variants; i++) {
		if (strlen(m->variants[i].name) > name)
			name = strlen(m->variants[i].name);
		if (strlen(m->variants[i].label) > label)
			label = strlen(m->variants[i].label);
	}
	for (size_t i = 0; i < m->n_variants; i++) {
		lab_buf_addf(out, "%-*s  %-*s  %s", (int)name, m->variants[i].name, (int)label,
			     m->variants[i].label,
			     short_kernel(m->variants[i].kernel, kernel, sizeof(kernel)));
		report_end_line(out);
	}
}

static bool has_times(const struct report_model *m, const struct report_options *options)
{
	for (size_t i = 0; i < m->metrics.n; i++) {
		if (metric_is_timed(&m->metrics.items[i]) &&
		    report_options_want(options, &m->metrics.items[i]))
			return true;
	}
	return false;
}

static void add_emulated(const struct report_options *options, struct lab_buf *out)
{
	report_wrap(
		out,
		options->allow_emulated
			? "EMULATED: every time below was taken on an emulated machine. It says "
			  "how much the emulator had to do, not how long real hardware takes. "
			  "It is compared because --allow-emulated was given."
			: "EMULATED: this campaign ran on an emulated machine, so its times are "
			  "not compared (--allow-emulated compares them all the same).",
		0);
}

/* What such numbers are, before anybody takes them for times. */
static void add_counted(const struct report_model *m, struct lab_buf *out)
{
	report_wrap(out,
		    "EXACT: its clock counts instructions, so these numbers do not follow the "
		    "host's speed or load. They know nothing of caches, of branch prediction, of "
		    "other processors.",
		    0);
	report_wrap(
		out,
		m->sync_storage
			? "Its disks answer at once (storage: sync): I/O delays, PSI io and swap "
			  "readahead are not meaningful."
			: "Its disks answer after a modelled, constant delay of 1 ms.",
		0);
}

static size_t count_state(const struct report_model *m, const char *state)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n_runs; i++)
		n += strcmp(m->runs[i].state, state) == 0;
	return n;
}

void report_head(const struct report_model *m, const struct report_options *options,
		 struct lab_buf *out)
{
	LAB_CLEANUP(buf) struct lab_buf line = LAB_BUF_INIT;

	lab_buf_addf(&line, "campaign %lld  %s/%s  target %s  n %u  seed %llu",
		     (long long)m->campaign, m->experiment, m->preset, m->target, m->n,
		     (unsigned long long)m->seed);
	report_wrap(out, line.data, 2);
	if (strcmp(m->title, m->experiment) != 0)
		report_wrap(out, m->title, 0);
	add_kernels(m, out);
	if (strcmp(m->state, "complete") != 0)
		lab_buf_addf(out, "%s: %zu of %zu runs are done\n", m->state,
			     count_state(m, RUN_DONE), m->n_runs);
	if (m->emulated && has_times(m, options))
		add_emulated(options, out);
	if (m->counted)
		add_counted(m, out);
	lab_buf_addc(out, '\n');
}

const char *report_no_mean(const struct report_model *m, const struct report_arm *arm, size_t cell,
			   size_t variant)
{
	const char *state = NULL;

	if (arm->n_boots)
		return NULL;
	for (size_t i = 0; i < m->n_runs; i++) {
		const struct report_run *r = &m->runs[i];

		if (r->cell != cell || r->variant != variant || !run_state_is_outcome(r->state) ||
		    strcmp(r->state, RUN_DONE) == 0)
			continue;
		if (state && strcmp(state, r->state) != 0)
			return "failed";
		state = r->state;
	}
	if (!state)
		return "-";
	return strcmp(state, RUN_WORKLOAD) == 0 ? "failed" : run_state_label(state);
}

/* "A, under exp, boots 3, 4" for the runs of one arm that ended in `state`; "" for none. */
static char *name_boots(const struct report_model *m, const char *state, size_t cell,
			size_t variant)
{
	LAB_CLEANUP(strv) struct lab_strv boots = LAB_STRV_INIT;
	LAB_CLEANUP(free) char *list = NULL;

	for (size_t i = 0; i < m->n_runs && boots.n < NAMED; i++) {
		const struct report_run *r = &m->runs[i];

		if (r->cell == cell && r->variant == variant && strcmp(r->state, state) == 0)
			lab_strv_addf(&boots, "%u", r->repetition);
	}
	if (!boots.n)
		return lab_strdup("");
	list = lab_strv_join(&boots, ", ");
	return lab_asprintf("%s, %s%sboot%s %s", m->variants[variant].name, m->cells[cell],
			    *m->cells[cell] ? ", " : "", boots.n == 1 ? "" : "s", list);
}

/* "(A, under exp, boot 3; B, under exp, boot 1): labctl show 7.41, 7.44" */
static void name_runs(const struct report_model *m, const char *state, struct lab_buf *text)
{
	LAB_CLEANUP(strv) struct lab_strv who = LAB_STRV_INIT;
	LAB_CLEANUP(strv) struct lab_strv where = LAB_STRV_INIT;
	LAB_CLEANUP(free) char *who_text = NULL;
	LAB_CLEANUP(free) char *where_text = NULL;

	for (size_t i = 0; i < m->n_cells * m->n_variants && who.n < NAMED; i++) {
		LAB_CLEANUP(free)
		char *boots = name_boots(m, state, i / m->n_variants, i % m->n_variants);

		if (*boots)
			lab_strv_add(&who, boots);
	}
	for (size_t i = 0; i < m->n_runs && where.n < NAMED; i++) {
		if (strcmp(m->runs[i].state, state) == 0)
			lab_strv_addf(&where, "%lld.%u", (long long)m->campaign, m->runs[i].number);
	}
	who_text = lab_strv_join(&who, "; ");
	where_text = lab_strv_join(&where, ", ");
	lab_buf_addf(text, " (%s): labctl show %s%s", who_text, where_text,
		     count_state(m, state) > NAMED ? ", ..." : "");
}

static void add_failed(const struct report_model *m, struct lab_buf *out)
{
	static const char *const failures[] = {RUN_PANIC, RUN_OOPS,    RUN_OOM,
					       RUN_HANG,  RUN_STALLED, RUN_WORKLOAD};

	for (size_t i = 0; i < LAB_COUNT(failures); i++) {
		LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
		size_t n = count_state(m, failures[i]);

		if (!n)
			continue;
		lab_buf_addf(&text, "* %zu run%s ended %s", n, n == 1 ? "" : "s", failures[i]);
		name_runs(m, failures[i], &text);
		report_wrap(out, text.data, 2);
	}
}

static void add_missing(const struct report_model *m, struct lab_buf *out)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	LAB_CLEANUP(strv) struct lab_strv faults = LAB_STRV_INIT;
	size_t n = 0;

	for (size_t i = 0; i < m->n_runs; i++) {
		const struct report_run *r = &m->runs[i];

		if (run_state_is_outcome(r->state))
			continue;
		n++;
		if (run_state_is_fault(r->state) && faults.n < NAMED)
			lab_strv_addf(&faults, "%lld.%u %s", (long long)m->campaign, r->number,
				      r->state);
	}
	if (!n)
		return;
	lab_buf_addf(&text, "* %zu run%s missing", n, n == 1 ? " is" : "s are");
	if (faults.n) {
		LAB_CLEANUP(free) char *list = lab_strv_join(&faults, ", ");

		lab_buf_addf(&text, " (faults of the lab: %s)", list);
	}
	lab_buf_adds(&text, ": the same `labctl run` goes on");
	report_wrap(out, text.data, 2);
}

static void add_repeated(const struct report_model *m, struct lab_buf *out)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;

	if (!m->n_repeated)
		return;
	lab_buf_addf(&text,
		     "%zu attempt%s ended in a fault of the lab and %s repeated:", m->n_repeated,
		     m->n_repeated == 1 ? "" : "s", m->n_repeated == 1 ? "was" : "were");
	for (size_t i = 0; i < m->n_repeated && i < NAMED; i++)
		lab_buf_addf(&text, "%s %lld.%u %s", i ? "," : "", (long long)m->campaign,
			     m->repeated[i].number, m->repeated[i].state);
	if (m->n_repeated > NAMED)
		lab_buf_adds(&text, ", ...");
	report_wrap(out, text.data, 2);
}

void report_foot(const struct report_model *m, struct lab_buf *out)
{
	add_failed(m, out);
	add_missing(m, out);
	add_repeated(m, out);
}
