/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "report/compare.h"
#include "report/number.h"
#include "report/render.h"
#include "store/state.h"

/* A field as RFC 4180 has it: quoted when it holds a comma, a quote or a line end. */
static void add_field(struct lab_buf *out, const char *text)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		lab_buf_adds(out, text);
		return;
	}
	lab_buf_addc(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			lab_buf_addc(out, '"');
		lab_buf_addc(out, *text);
	}
	lab_buf_addc(out, '"');
}

static void add_run(const struct report_model *m, const struct report_run *r, struct lab_buf *out)
{
	lab_buf_addf(out, "%u,", r->number);
	add_field(out, m->variants[r->variant].name);
	lab_buf_addc(out, ',');
	add_field(out, m->cells[r->cell]);
	lab_buf_addf(out, ",%u,", r->repetition);
}

static void add_boot(const struct report_model *m, const struct metric *metric,
		     const struct report_boot *boot, struct lab_buf *out)
{
	const struct report_run *r = &m->runs[boot->run];
	char text[NUMBER_SIZE];

	for (size_t i = 0; i < boot->n; i++) {
		add_run(m, r, out);
		add_field(out, metric->name);
		lab_buf_addf(out, ",%zu,%s,", i + 1, number_exact(boot->values[i], text));
		add_field(out, metric->unit);
		lab_buf_addf(out, ",%d,%s\n", m->emulated, r->state);
	}
}

static const struct report_boot *find_boot(const struct report_arm *arm, size_t run)
{
	for (size_t i = 0; i < arm->n_boots; i++) {
		if (arm->boots[i].run == run)
			return &arm->boots[i];
	}
	return NULL;
}

/* A run without values has one row all the same: it does not vanish from the table. */
static void add_rows(const struct report_model *m, const struct report_options *options, size_t run,
		     struct lab_buf *out)
{
	const struct report_run *r = &m->runs[run];
	bool any = false;

	for (size_t i = 0; i < m->metrics.n; i++) {
		const struct report_arm *arm = report_arm(m, i, r->cell, r->variant);
		const struct report_boot *boot = find_boot(arm, run);

		if (!boot || !report_options_want(options, &m->metrics.items[i]))
			continue;
		add_boot(m, &m->metrics.items[i], boot, out);
		any = true;
	}
	if (any)
		return;
	add_run(m, r, out);
	lab_buf_addf(out, ",,,,%d,%s\n", m->emulated, r->state);
}

int report_csv(const struct report_model *model, const struct report_options *options,
	       struct lab_buf *out, struct lab_error *err)
{
	struct report_options complete = report_options_complete(options);

	if (report_options_check(&complete, model, err) < 0)
		return -1;
	lab_buf_adds(out, "run,variant,cell,repetition,metric,seq,value,unit,emulated,state\n");
	for (size_t i = 0; i < model->n_runs; i++)
		add_rows(model, &complete, i, out);
	return 0;
}
