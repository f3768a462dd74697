/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "workloads/drivers.h"
#include "workloads/text.h"

json_int_t option_int(const json_t *options, const char *name)
{
	return json_integer_value(json_object_get(options, name));
}

const char *option_text(const json_t *options, const char *name)
{
	return json_string_value(json_object_get(options, name));
}

/* The last line of what it wrote to standard error, for the message; "" without one. */
static const char *last_words(const struct workload_input *in, const char *step, char *buf,
			      size_t size)
{
	const struct lab_buf *e = record_find_output(in->record, in->phase, step, "stderr");
	struct text_line line, last = {0};
	const char *text = e ? e->data : NULL;
	size_t len = e ? e->len : 0;

	while (text_next_line(&text, &len, &line))
		if (!text_line_blank(&line))
			last = line;
	return text_excerpt(last.s ? last.s : "", last.len, buf, size);
}

int step_output(const struct workload_input *in, const char *step, const struct lab_buf **ret_out,
		struct lab_error *err)
{
	static const struct lab_buf empty = LAB_BUF_INIT;
	const struct record_step *s = record_find_step(in->record, in->phase, step);
	const struct lab_buf *out;
	char words[160];

	if (!s)
		return lab_error_set(err, LAB_ERR_INVALID, "%s did not run", step);
	if (!s->ended)
		return lab_error_set(err, LAB_ERR_INVALID, "%s did not end", step);
	if (s->timed_out)
		return lab_error_set(err, LAB_ERR_INVALID, "%s was killed after %.0f s", step,
				     (double)s->wall_ns / 1e9);
	if (s->error)
		return lab_error_set(err, LAB_ERR_INVALID, "%s could not be started: %.200s", step,
				     s->error);
	last_words(in, step, words, sizeof(words));
	if (s->signal)
		return lab_error_set(err, LAB_ERR_INVALID, "%s was ended by signal %d (%s)%s%s",
				     step, (int)s->signal, strsignal((int)s->signal),
				     *words ? ": " : "", words);
	if (s->exit_code)
		return lab_error_set(err, LAB_ERR_INVALID, "%s ended with exit code %d%s%s", step,
				     (int)s->exit_code, *words ? ": " : "", words);
	out = record_find_output(in->record, in->phase, step, "stdout");
	*ret_out = out ? out : &empty;
	return 0;
}
