/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vmctl/console.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/mem.h"
#include "common/strv.h"

enum { LINE_CAP = 1024, CHUNK = 64 * 1024 };

struct console_scanner {
	struct console_verdict verdict;
	char line[LINE_CAP]; /* so far, without its end; what is longer is dropped */
	size_t len;
	bool pending; /* bytes of a line came, even if none was kept */
};

const char *console_kind_name(enum console_kind kind)
{
	static const char *const names[CONSOLE_KINDS] = {
		[CONSOLE_PANIC] = "panic", [CONSOLE_OOPS] = "oops",   [CONSOLE_OOM] = "oom",
		[CONSOLE_HUNG] = "hung",   [CONSOLE_IO] = "io-error", [CONSOLE_WARNING] = "warning",
	};

	return kind < CONSOLE_KINDS ? names[kind] : "unknown";
}

/*
 * The first row that fits decides. A row fits where the line begins with `start` (or
 * has it anywhere, when `anywhere`) and has `also`. "traps: prog[7] general protection
 * fault" is a program's end, not the kernel's: hence the beginnings.
 */
struct pattern {
	enum console_kind kind;
	bool anywhere;
	const char *start;
	const char *also; /* or NULL */
};

static const struct pattern patterns[] = {
	{CONSOLE_PANIC, true, "Kernel panic - not syncing", NULL},
	{CONSOLE_HUNG, false, "INFO: task ", " blocked for more than "},
	{CONSOLE_HUNG, true, "BUG: soft lockup", NULL},
	{CONSOLE_HUNG, true, "BUG: workqueue lockup", NULL},
	{CONSOLE_HUNG, true, "atchdog detected hard LOCKUP", NULL},
	{CONSOLE_HUNG, true, "INFO: rcu", "stall"},
	{CONSOLE_OOM, true, "Out of memory: Kill", NULL},
	{CONSOLE_OOM, true, "Memory cgroup out of memory: Kill", NULL},
	{CONSOLE_OOPS, false, "BUG: ", NULL},
	{CONSOLE_OOPS, false, "Oops: ", NULL},
	{CONSOLE_OOPS, false, "kernel BUG at ", NULL},
	{CONSOLE_OOPS, false, "general protection fault", NULL},
	{CONSOLE_OOPS, false, "divide error: ", "[#"},
	{CONSOLE_OOPS, false, "invalid opcode: ", "[#"},
	{CONSOLE_OOPS, false, "stack segment: ", "[#"},
	{CONSOLE_OOPS, false, "int3: ", "[#"},
	{CONSOLE_OOPS, false, "double fault: ", NULL},
	{CONSOLE_OOPS, false, "Internal error: Oops", NULL},
	{CONSOLE_OOPS, false, "Unable to handle kernel ", NULL},
	{CONSOLE_IO, true, "I/O error, dev ", NULL},
	{CONSOLE_IO, true, "Buffer I/O error on dev", NULL},
	{CONSOLE_IO, false, "Read-error on swap-device", NULL},
	{CONSOLE_IO, false, "Write-error on swap-device", NULL},
	{CONSOLE_IO, false, "EXT4-fs error (device ", NULL},
	{CONSOLE_IO, false, "nvme nvme", " controller is down"},
	{CONSOLE_WARNING, false, "WARNING: ", NULL},
};

/* Behind "[   12.345678] " or "[   12.345678][    T123] ", which need not be there. */
static const char *skip_stamp(const char *line)
{
	while (*line == '[') {
		const char *p = line + 1;

		while (*p && strchr(" .0123456789TC@", *p))
			p++;
		if (p == line + 1 || p[0] != ']' || (p[1] != ' ' && p[1] != '['))
			break;
		line = p + (p[1] == ' ' ? 2 : 1);
	}
	return line;
}

static const struct pattern *match(const char *line)
{
	for (size_t i = 0; i < LAB_COUNT(patterns); i++) {
		const struct pattern *p = &patterns[i];

		if (p->anywhere ? !strstr(line, p->start) : !lab_starts_with(line, p->start))
			continue;
		if (!p->also || strstr(line, p->also))
			return p;
	}
	return NULL;
}

static void take_line(struct console_verdict *v, const char *raw)
{
	const char *line = skip_stamp(raw);
	const struct pattern *p = match(line);

	v->lines++;
	if (*line)
		snprintf(v->last, sizeof(v->last), "%s", line);
	if (lab_starts_with(line, "Linux version "))
		v->booted = true;
	if (!p)
		return;
	if (v->hits[p->kind].count++ == 0) {
		v->hits[p->kind].line = v->lines;
		snprintf(v->hits[p->kind].text, CONSOLE_LINE, "%s", line);
	}
}

struct console_scanner *console_scanner_new(void)
{
	return LAB_NEW(struct console_scanner);
}

void console_scanner_free(struct console_scanner *scanner)
{
	free(scanner);
}

void console_scanner_feed(struct console_scanner *s, const void *data, size_t len)
{
	const unsigned char *bytes = data;

	s->verdict.bytes += len;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = bytes[i];

		if (c == '\n') {
			s->line[s->len] = '\0';
			take_line(&s->verdict, s->line);
			s->len = 0;
			s->pending = false;
			continue;
		}
		s->pending = true;
		if (c == '\r')
			continue;
		if (s->len + 1 < LINE_CAP)
			s->line[s->len++] = (char)(c < 0x20 || c >= 0x7f ? '?' : c);
	}
}

void console_scanner_verdict(const struct console_scanner *s, struct console_verdict *ret)
{
	char line[LINE_CAP];

	*ret = s->verdict;
	if (!s->pending)
		return;
	memcpy(line, s->line, s->len);
	line[s->len] = '\0';
	take_line(ret, line);
}

int console_scan(const char *path, struct console_verdict *ret, struct lab_error *err)
{
	LAB_CLEANUP(console_scanner) struct console_scanner *scanner = console_scanner_new();
	LAB_CLEANUP(free) char *chunk = NULL;
	LAB_CLEANUP(fd) int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 && errno != ENOENT)
		return lab_error_errno(err, errno, "%s", path);
	chunk = lab_calloc(1, CHUNK);
	while (fd >= 0) {
		ssize_t n = read(fd, chunk, CHUNK);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return lab_error_errno(err, errno, "read %s", path);
		if (n == 0)
			break;
		console_scanner_feed(scanner, chunk, (size_t)n);
	}
	console_scanner_verdict(scanner, ret);
	return 0;
}
