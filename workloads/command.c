/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any program by its argument vector. With `pattern` (a POSIX extended regular
 * expression with one group) the number in the one line that matches is the metric;
 * without it only the program's success counts.
 */
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "workloads/drivers.h"
#include "workloads/text.h"

static const char *const directions[] = {"+", "-", "none", NULL};
static const char *const kinds[] = {"time", "memory", "count", NULL};

static const struct workload_option options_table[] = {
	{"argv", WORKLOAD_STRINGS, .value = NULL, .help = "program and arguments; never a shell"},
	{"iterations", WORKLOAD_INT, .min = 1, .max = 100, .value = "1",
	 .help = "how often it runs in one boot"},
	{"pattern", WORKLOAD_STRING, .value = "",
	 .help = "regular expression whose group is the number"},
	{"metric", WORKLOAD_STRING, .value = "", .help = "the number's name"},
	{"unit", WORKLOAD_STRING, .value = "s", .help = "the number's unit"},
	{"kind", WORKLOAD_STRING, .words = kinds, .value = "time", .help = "what the number is"},
	{"direction", WORKLOAD_STRING, .words = directions, .value = "none",
	 .help = "whether more (+) or less (-) is good"},
	{NULL},
};

static void free_regex(regex_t *re)
{
	regfree(re);
}

/* Compiles the pattern; *re is the caller's only after 0. */
static int compile(const json_t *options, regex_t *re, struct lab_error *err)
{
	const char *pattern = option_text(options, "pattern");
	char why[200];
	int rc = regcomp(re, pattern, REG_EXTENDED);

	if (rc) {
		regerror(rc, re, why, sizeof(why));
		return lab_error_set(err, LAB_ERR_INVALID, "option 'pattern': %s", why);
	}
	if (re->re_nsub == 1)
		return 0;
	regfree(re);
	return lab_error_set(err, LAB_ERR_INVALID, "option 'pattern' needs one group, has %zu",
			     re->re_nsub);
}

static int command_steps(const json_t *options, struct job_phase *phase, struct lab_error *err)
{
	json_t *argv = json_object_get(options, "argv");
	bool pattern = option_text(options, "pattern") != NULL;
	regex_t re;

	if (pattern != (option_text(options, "metric") != NULL))
		return lab_error_set(err, LAB_ERR_INVALID,
				     "options 'pattern' and 'metric' need each other");
	if (pattern) {
		if (compile(options, &re, err))
			return -1;
		regfree(&re);
	}
	for (json_int_t i = 1; i <= option_int(options, "iterations"); i++) {
		char name[JOB_NAME_MAX];
		struct job_step *step;

		snprintf(name, sizeof(name), "command-%d", (int)i);
		step = job_phase_add_step(phase, name, NULL, 0);
		for (size_t a = 0; a < json_array_size(argv); a++)
			lab_strv_add(&step->argv, json_string_value(json_array_get(argv, a)));
	}
	return 0;
}

static void command_metrics(const json_t *options, struct metric_list *list)
{
	const char *name = option_text(options, "metric");
	const char *direction = option_text(options, "direction");

	if (!name || metric_find(list, name))
		return;
	metric_add(list, name, option_text(options, "unit"), option_text(options, "kind"))
		->direction = direction[0] == 'n' ? '0' : direction[0];
}

/* Whole lines without zero bytes only: a cut number is none. */
static int find_number(const struct lab_buf *out, const regex_t *re, double *ret_value,
		       struct lab_strv *notes, struct lab_error *err)
{
	const char *text = out->data;
	size_t len = out->len;
	struct text_line line;
	bool found = false;

	while (text_next_line(&text, &len, &line)) {
		LAB_CLEANUP(free) char *s = lab_strndup(line.s, line.len);
		regmatch_t match[2];
		size_t n;

		if (!line.whole || memchr(line.s, 0, line.len) || regexec(re, s, 2, match, 0)) {
			if (!text_line_blank(&line))
				text_note(notes, &line);
			continue;
		}
		if (found)
			return lab_error_set(err, LAB_ERR_INVALID, "two lines match the pattern");
		n = match[1].rm_so < 0 ? 0 : (size_t)(match[1].rm_eo - match[1].rm_so);
		if (text_positive(n ? s + match[1].rm_so : "", n, "the match", ret_value, err))
			return -1;
		found = true;
	}
	if (!found)
		return lab_error_set(err, LAB_ERR_INVALID, "no line matches the pattern");
	return 0;
}

static int command_parse(const struct workload_input *in, struct sample *sample,
			 struct lab_strv *notes, struct lab_error *err)
{
	bool pattern = option_text(in->options, "pattern") != NULL;
	__attribute__((cleanup(free_regex))) regex_t re = {0};

	if (pattern && compile(in->options, &re, err))
		return -1;
	for (json_int_t i = 1; i <= option_int(in->options, "iterations"); i++) {
		const struct lab_buf *out;
		char name[JOB_NAME_MAX];
		double value;

		snprintf(name, sizeof(name), "command-%d", (int)i);
		if (step_output(in, name, &out, err))
			return -1;
		if (!pattern)
			continue;
		if (find_number(out, &re, &value, notes, err))
			return lab_error_wrap(err, "%s", name);
		if (sample_add(sample, option_text(in->options, "metric"), value))
			return lab_error_set(err, LAB_ERR_INVALID, "%s: not finite", name);
	}
	return 0;
}

const struct workload workload_command = {
	.name = "command",
	.help = "any program of the image, with a number found by a regular expression",
	.options = options_table,
	.steps = command_steps,
	.metrics = command_metrics,
	.parse = command_parse,
};
