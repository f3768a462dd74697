/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/run_talk.h"

#include <string.h>

#include "cli/interrupt.h"
#include "common/mem.h"
#include "store/state.h"

static void on_say(void *ctx, const char *topic, const char *text)
{
	struct cli *cli = ctx;

	if (cli->common.json)
		term_say(cli->term, "%-8s %s", topic, text);
	else
		term_printf(cli->term, "%-8s %s\n", topic, text);
}

static void on_working(void *ctx, const char *what, const char *text)
{
	struct cli *cli = ctx;
	struct term_progress p = {.what = what, .text = text};

	term_progress(cli->term, &p);
}

static void on_status(void *ctx, const struct run_status *s)
{
	struct cli *cli = ctx;
	LAB_CLEANUP(free) char *what = NULL;
	LAB_CLEANUP(free) char *text = NULL;
	struct term_progress p = {
		.done = (uint64_t)s->finished * 100 + s->percent,
		.total = (uint64_t)s->runs * 100,
		.unit = "",
		.left_ms = s->eta_ms,
	};

	what = lab_asprintf("%u/%u  %s%s%s", s->run, s->runs, s->variant, s->cell[0] ? " " : "",
			    s->cell);
	text = s->percent ? lab_asprintf("%s  %u %%", s->phase, s->percent) : lab_strdup(s->phase);
	p.what = what;
	p.text = text;
	term_progress(cli->term, &p);
}

static void on_run_ended(void *ctx, const struct run_status *status, const char *run,
			 const char *state, const char *message)
{
	struct cli *cli = ctx;

	(void)status;
	if (strcmp(state, RUN_DONE) != 0)
		term_say(cli->term, "run %s ended as %s%s%s", run, state,
			 message && message[0] ? ": " : "", message ? message : "");
}

static bool on_cancelled(void *ctx)
{
	(void)ctx;
	return cli_interrupted();
}

void run_talk_init(struct run_progress *progress, struct cli *cli)
{
	*progress = (struct run_progress){
		.ctx = cli,
		.say = on_say,
		.working = on_working,
		.status = on_status,
		.run_ended = on_run_ended,
		.cancelled = on_cancelled,
	};
}
