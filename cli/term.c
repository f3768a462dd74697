/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/term.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/mem.h"
#include "common/num.h"

/* How often the line is redrawn on a terminal, and printed elsewhere. */
#define REDRAW_MS 150
#define LOG_EVERY_MS 10000
#define LOG_EVERY_PERCENT 10
#define BAR_WIDTH 30

struct term {
	FILE *out;
	FILE *talk;
	bool is_tty;
	unsigned columns;
	int out_errno; /* of the first failed write, 0: none */
	/* The progress line. */
	char *what; /* NULL: no phase */
	uint64_t phase_start;
	uint64_t shown_ms;
	uint64_t shown_tenth;
	bool drawn; /* the cursor stands behind a progress line */
};

struct term *term_new(FILE *out, FILE *talk, bool is_tty, unsigned columns)
{
	struct term *term = LAB_NEW(struct term);

	term->out = out;
	term->talk = talk;
	term->is_tty = is_tty;
	term->columns = columns < 40 ? 80 : columns;
	return term;
}

void term_free(struct term *term)
{
	if (!term)
		return;
	free(term->what);
	free(term);
}

static void hide(struct term *term)
{
	if (!term->drawn)
		return;
	fputs("\r\033[K", term->talk);
	term->drawn = false;
}

void term_print(struct term *term, const char *text)
{
	hide(term);
	fflush(term->talk);
	if (fputs(text, term->out) < 0 && !term->out_errno)
		term->out_errno = errno;
	/* Lines of a long command are results the moment they are known. */
	if (fflush(term->out) != 0 && !term->out_errno)
		term->out_errno = errno;
}

void term_printf(struct term *term, const char *fmt, ...)
{
	LAB_CLEANUP(free) char *text = NULL;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		abort();
	va_end(args);
	term_print(term, text);
}

void term_say(struct term *term, const char *fmt, ...)
{
	va_list args;

	hide(term);
	va_start(args, fmt);
	vfprintf(term->talk, fmt, args);
	va_end(args);
	fputc('\n', term->talk);
	fflush(term->talk);
}

void term_error(struct term *term, const char *text)
{
	static const char prefix[] = "labctl: ";

	hide(term);
	fputs(prefix, term->talk);
	for (const char *s = text; *s; s++) {
		fputc(*s, term->talk);
		if (*s == '\n' && s[1])
			fprintf(term->talk, "%*s", (int)sizeof(prefix) - 1, "");
	}
	fputc('\n', term->talk);
	fflush(term->talk);
}

static uint64_t percent_of(const struct term_progress *p)
{
	if (p->total == 0)
		return 0;
	return p->done >= p->total ? 100 : (uint64_t)((double)p->done * 100.0 / (double)p->total);
}

static void add_count(struct lab_buf *line, const struct term_progress *p)
{
	char done[16], total[16];

	if (p->unit && strcmp(p->unit, "bytes") == 0) {
		lab_buf_addf(line, "  %s", lab_format_size(p->done, done, sizeof(done)));
		if (p->total)
			lab_buf_addf(line, "/%s", lab_format_size(p->total, total, sizeof(total)));
		return;
	}
	if (p->unit ? p->unit[0] == '\0' : !p->total)
		return;
	lab_buf_addf(line, "  %llu", (unsigned long long)p->done);
	if (p->total)
		lab_buf_addf(line, "/%llu", (unsigned long long)p->total);
	if (p->unit)
		lab_buf_addf(line, " %s", p->unit);
}

/* Bytes of s that fit into n columns without cutting a UTF-8 sequence. */
static size_t fitting(const char *s, size_t n)
{
	size_t i = 0, columns = 0;

	while (s[i]) {
		if (((unsigned char)s[i] & 0xc0) != 0x80 && columns++ == n)
			break;
		i++;
	}
	return i;
}

char *term_progress_line(const struct term_progress *p, uint64_t elapsed_ms, unsigned columns)
{
	struct lab_buf line = LAB_BUF_INIT;
	char time[16];

	if (p->total) {
		unsigned full = (unsigned)(percent_of(p) * BAR_WIDTH / 100);

		lab_buf_addc(&line, '[');
		for (unsigned i = 0; i < BAR_WIDTH; i++)
			lab_buf_addc(&line, i < full ? '#' : '-');
		lab_buf_adds(&line, "]  ");
	}
	lab_buf_adds(&line, p->what);
	add_count(&line, p);
	if (elapsed_ms >= 1000)
		lab_buf_addf(&line, "  %s", lab_format_duration(elapsed_ms, time, sizeof(time)));
	if (p->left_ms)
		lab_buf_addf(&line, "  left %s",
			     lab_format_duration(p->left_ms, time, sizeof(time)));
	if (p->text && p->text[0])
		lab_buf_addf(&line, "  %s", p->text);
	line.len = fitting(line.data, columns);
	line.data[line.len] = '\0';
	return lab_buf_take(&line);
}

static void show(struct term *term, const struct term_progress *p, uint64_t now)
{
	LAB_CLEANUP(free) char *line = NULL;

	/* The last column stays free: some terminals wrap when it is written. */
	line = term_progress_line(p, now - term->phase_start,
				  term->is_tty ? term->columns - 1 : 100);
	if (term->is_tty) {
		fprintf(term->talk, "\r%s\033[K", line);
		term->drawn = true;
	} else {
		fprintf(term->talk, "%s\n", line);
	}
	fflush(term->talk);
	term->shown_ms = now;
	term->shown_tenth = percent_of(p) / LOG_EVERY_PERCENT;
}

void term_progress(struct term *term, const struct term_progress *p)
{
	uint64_t now = lab_now_ms();
	bool begins = !term->what || strcmp(term->what, p->what) != 0;
	bool due;

	if (begins) {
		free(term->what);
		term->what = lab_strdup(p->what);
		term->phase_start = now;
	}
	if (term->is_tty)
		due = now - term->shown_ms >= REDRAW_MS;
	else
		due = now - term->shown_ms >= LOG_EVERY_MS ||
		      (p->total && percent_of(p) / LOG_EVERY_PERCENT > term->shown_tenth);
	if (begins || due)
		show(term, p, now);
}

void term_progress_end(struct term *term)
{
	hide(term);
	fflush(term->talk);
	free(LAB_TAKE(term->what));
}

int term_finish(struct term *term, struct lab_error *err)
{
	term_progress_end(term);
	if (fclose(term->out) != 0 && !term->out_errno)
		term->out_errno = errno;
	if (term->out_errno)
		return lab_error_errno(err, term->out_errno, "cannot write standard output");
	return 0;
}
