/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hackbench: groups of senders and receivers that pass messages through pipes or
 * socket pairs, as processes or as threads. Each form and each repetition is a step
 * of its own, so that its output is a stream of its own. Form `thread` of the older
 * programs is -T of rt-tests.
 */
#include "workloads/hackbench.h"

#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "workloads/drivers.h"
#include "workloads/text.h"

static const char *const forms[] = {"process-pipes", "process-sockets", "thread-pipes",
				    "thread-sockets", NULL};

static const struct workload_option options_table[] = {
	{"forms", WORKLOAD_STRINGS, .words = forms,
	 .value = "process-pipes process-sockets thread-pipes thread-sockets",
	 .help = "which of the four forms to run, in this order"},
	{"groups", WORKLOAD_INT, .min = 1, .max = 10000, .value = "10",
	 .help = "groups of senders and receivers (-g)"},
	{"fds", WORKLOAD_INT, .min = 1, .max = 10000, .value = "20",
	 .help = "senders and as many receivers in a group (-f)"},
	{"loops", WORKLOAD_INT, .min = 1, .max = 1000000000, .value = "100",
	 .help = "messages from each sender to each receiver (-l)"},
	{"datasize", WORKLOAD_SIZE, .min = 1, .max = 1 << 20, .value = "100",
	 .help = "bytes of a message (-s)"},
	{"iterations", WORKLOAD_INT, .min = 1, .max = 100, .value = "1",
	 .help = "how often each form runs in one boot"},
	{NULL},
};

static const char *const needs[] = {"hackbench", NULL};

struct parse_state {
	bool head, load; /* the two lines were seen and right */
	bool timed;
	double seconds;
};

/* The line must be `want`; a cut one is only told apart from noise by its beginning. */
static int check_line(const struct text_line *line, const char *want, bool *seen,
		      struct lab_error *err)
{
	char excerpt[120];

	text_excerpt(line->s, line->len, excerpt, sizeof(excerpt));
	if (!line->whole)
		return lab_error_set(err, LAB_ERR_INVALID, "output ends in '%s'", excerpt);
	if (*seen)
		return lab_error_set(err, LAB_ERR_INVALID, "a second '%s'", excerpt);
	if (strlen(want) != line->len || memcmp(want, line->s, line->len) != 0)
		return lab_error_set(err, LAB_ERR_INVALID, "ran '%s' instead of '%s'", excerpt,
				     want);
	*seen = true;
	return 0;
}

static int check_head(const struct text_line *line, const struct hackbench_form *form, bool *seen,
		      struct lab_error *err)
{
	char want[160];

	snprintf(want, sizeof(want),
		 "Running in %s mode with %u groups using %u file descriptors each (== %u tasks)",
		 form->threads ? "threaded" : "process", form->groups, 2 * form->fds,
		 form->groups * 2 * form->fds);
	return check_line(line, want, seen, err);
}

static int check_load(const struct text_line *line, const struct hackbench_form *form, bool *seen,
		      struct lab_error *err)
{
	char want[160];

	snprintf(want, sizeof(want), "Each sender will pass %u messages of %u bytes", form->loops,
		 form->datasize);
	return check_line(line, want, seen, err);
}

static int read_time(const struct text_line *line, struct parse_state *state, struct lab_error *err)
{
	static const char label[] = "Time: ";

	if (!line->whole)
		return lab_error_set(err, LAB_ERR_INVALID, "output is cut inside the time");
	if (state->timed)
		return lab_error_set(err, LAB_ERR_INVALID, "two times");
	if (!state->head || !state->load)
		return lab_error_set(err, LAB_ERR_INVALID, "a time, but not what ran before it");
	if (!text_line_starts(line, label))
		return lab_error_set(err, LAB_ERR_INVALID, "no number after 'Time:'");
	if (text_positive(line->s + strlen(label), line->len - strlen(label), "time",
			  &state->seconds, err))
		return -1;
	state->timed = true;
	return 0;
}

int hackbench_parse(const char *text, size_t len, const struct hackbench_form *form,
		    double *ret_seconds, struct lab_strv *notes, struct lab_error *err)
{
	struct parse_state state = {0};
	struct text_line line;

	while (text_next_line(&text, &len, &line)) {
		int rc = 0;

		if (text_line_starts(&line, "Running in "))
			rc = check_head(&line, form, &state.head, err);
		else if (text_line_starts(&line, "Each sender will pass "))
			rc = check_load(&line, form, &state.load, err);
		else if (text_line_starts(&line, "Time:"))
			rc = read_time(&line, &state, err);
		else if (!text_line_blank(&line))
			text_note(notes, &line);
		if (rc)
			return -1;
	}
	if (!state.timed)
		return lab_error_set(err, LAB_ERR_INVALID, "printed no time");
	*ret_seconds = state.seconds;
	return 0;
}

static void step_name(char *name, size_t size, const char *form, json_int_t iteration)
{
	snprintf(name, size, "%s-%d", form, (int)iteration);
}

/* Short options only: rt-tests 2.4 does not take all of its long ones with a value. */
static void fill_argv(struct lab_strv *argv, const char *form, const json_t *options)
{
	static const struct {
		const char *flag, *option;
	} values[] = {{"-g", "groups"}, {"-f", "fds"}, {"-l", "loops"}, {"-s", "datasize"}};

	lab_strv_add(argv, "hackbench");
	lab_strv_add(argv, lab_starts_with(form, "thread") ? "-T" : "-P");
	if (lab_ends_with(form, "pipes"))
		lab_strv_add(argv, "-p");
	for (size_t i = 0; i < LAB_COUNT(values); i++) {
		lab_strv_add(argv, values[i].flag);
		lab_strv_addf(argv, "%d", (int)option_int(options, values[i].option));
	}
}

static int hackbench_steps(const json_t *options, struct job_phase *phase, struct lab_error *err)
{
	json_t *list = json_object_get(options, "forms");
	json_int_t iterations = option_int(options, "iterations");

	(void)err;
	for (json_int_t i = 1; i <= iterations; i++) {
		for (size_t f = 0; f < json_array_size(list); f++) {
			const char *form = json_string_value(json_array_get(list, f));
			char name[JOB_NAME_MAX];
			struct job_step *step;

			step_name(name, sizeof(name), form, i);
			step = job_phase_add_step(phase, name, NULL, 0);
			fill_argv(&step->argv, form, options);
		}
	}
	return 0;
}

/* "process-pipes" with 234 groups -> "hackbench_process_pipes_234". */
static char *metric_name(const char *form, const json_t *options)
{
	char *name = lab_asprintf("hackbench_%s_%d", form, (int)option_int(options, "groups"));
	char *dash = strchr(name, '-');

	if (dash)
		*dash = '_';
	return name;
}

static void hackbench_metrics(const json_t *options, struct metric_list *list)
{
	json_t *wanted = json_object_get(options, "forms");

	for (size_t f = 0; f < json_array_size(wanted); f++) {
		LAB_CLEANUP(free)
		char *name = metric_name(json_string_value(json_array_get(wanted, f)), options);

		if (!metric_find(list, name))
			metric_add(list, name, "s", "time")->direction = '-';
	}
}

static int parse_form(const struct workload_input *in, const char *form, json_int_t iteration,
		      struct sample *sample, struct lab_strv *notes, struct lab_error *err)
{
	LAB_CLEANUP(free) char *metric = metric_name(form, in->options);
	struct hackbench_form asked = {
		.threads = lab_starts_with(form, "thread"),
		.groups = (unsigned)option_int(in->options, "groups"),
		.fds = (unsigned)option_int(in->options, "fds"),
		.loops = (unsigned)option_int(in->options, "loops"),
		.datasize = (unsigned)option_int(in->options, "datasize"),
	};
	const struct lab_buf *out;
	char name[JOB_NAME_MAX];
	double seconds;

	step_name(name, sizeof(name), form, iteration);
	if (step_output(in, name, &out, err))
		return -1;
	if (hackbench_parse(out->data, out->len, &asked, &seconds, notes, err))
		return lab_error_wrap(err, "%s", name);
	if (sample_add(sample, metric, seconds))
		return lab_error_set(err, LAB_ERR_INVALID, "%s: time is not finite", name);
	return 0;
}

static int hackbench_read(const struct workload_input *in, struct sample *sample,
			  struct lab_strv *notes, struct lab_error *err)
{
	json_t *list = json_object_get(in->options, "forms");
	json_int_t iterations = option_int(in->options, "iterations");

	for (json_int_t i = 1; i <= iterations; i++)
		for (size_t f = 0; f < json_array_size(list); f++)
			if (parse_form(in, json_string_value(json_array_get(list, f)), i, sample,
				       notes, err))
				return -1;
	return 0;
}

const struct workload workload_hackbench = {
	.name = "hackbench",
	.help = "messages through pipes and sockets between processes and threads",
	.options = options_table,
	.needs = needs,
	.steps = hackbench_steps,
	.metrics = hackbench_metrics,
	.parse = hackbench_read,
};
