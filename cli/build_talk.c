/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/build_talk.h"

#include <string.h>

#include "cli/interrupt.h"
#include "common/clock.h"

static void on_say(void *ctx, const char *word, const char *text)
{
	struct build_talk *talk = ctx;

	if (talk->facts_are_results)
		term_printf(talk->cli->term, "%-8s %s\n", word, text);
	else
		term_say(talk->cli->term, "%-8s %s", word, text);
}

static void on_fetch(void *ctx, unsigned received, unsigned total, uint64_t bytes)
{
	struct build_talk *talk = ctx;
	struct term_progress p = {
		.what = "fetch", .done = received, .total = total, .unit = "objects"};

	(void)bytes;
	term_progress(talk->cli->term, &p);
}

static void on_work(void *ctx, const char *what, uint64_t done, uint64_t total, const char *item)
{
	struct build_talk *talk = ctx;
	struct term_progress p = {.what = what, .done = done, .total = total, .text = item};

	p.unit = strcmp(what, "import") == 0 ? "bytes" : "files";
	term_progress(talk->cli->term, &p);
}

static void on_objects(void *ctx, const char *arm, unsigned done, unsigned expected,
		       const char *file)
{
	struct build_talk *talk = ctx;
	struct term_progress p = {
		.what = arm, .done = done, .total = expected, .unit = "objects", .text = file};
	uint64_t now = lab_now_ms();

	if (strncmp(talk->arm, arm, sizeof(talk->arm) - 1) != 0) {
		strncpy(talk->arm, arm, sizeof(talk->arm) - 1);
		talk->began_ms = now;
	}
	/* Objects differ in size: an estimate from the first few would jump about. */
	if (done >= 20 && expected > done)
		p.left_ms = (now - talk->began_ms) * (expected - done) / done;
	term_progress(talk->cli->term, &p);
}

static bool on_cancelled(void *ctx)
{
	(void)ctx;
	return cli_interrupted();
}

void build_talk_init(struct build_talk *talk, struct cli *cli, bool facts_are_results)
{
	*talk = (struct build_talk){
		.cli = cli,
		.facts_are_results = facts_are_results,
		.progress = {.ctx = talk,
			     .say = on_say,
			     .fetch = on_fetch,
			     .work = on_work,
			     .objects = on_objects,
			     .cancelled = on_cancelled},
	};
}
