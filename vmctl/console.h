/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_VMCTL_CONSOLE_H
#define LAB_VMCTL_CONSOLE_H

/*
 * What a kernel says on its console when it goes wrong. The scanner is pure, takes
 * bytes in pieces of any size, and believes nothing: lines are capped, control
 * characters replaced.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

enum console_kind {
	CONSOLE_PANIC,	 /* Kernel panic */
	CONSOLE_OOPS,	 /* BUG:, Oops:, general protection fault, divide error, ... */
	CONSOLE_OOM,	 /* Out of memory: Killed process (global or memcg) */
	CONSOLE_HUNG,	 /* hung task, soft or hard lockup, RCU stall */
	CONSOLE_IO,	 /* I/O error of a disk, file system shut down by one */
	CONSOLE_WARNING, /* WARNING: no outcome, kept for the record */
	CONSOLE_KINDS
};

#define CONSOLE_LINE 240 /* kept bytes of a line, with its zero byte */

struct console_hit {
	unsigned count;		 /* lines of this kind */
	uint64_t line;		 /* number of the first one, from 1 */
	char text[CONSOLE_LINE]; /* the first one, without time stamp and control characters */
};

struct console_verdict {
	struct console_hit hits[CONSOLE_KINDS];
	uint64_t lines, bytes;
	bool booted; /* "Linux version" was seen: the kernel came as far as its console */
	char last[CONSOLE_LINE]; /* last line that was not empty: where a silent boot stopped */
};

const char *console_kind_name(enum console_kind kind); /* "panic", "oops", ... */

struct console_scanner;
struct console_scanner *console_scanner_new(void);
void console_scanner_free(struct console_scanner *scanner);
LAB_DEFINE_CLEANUP(console_scanner, struct console_scanner, console_scanner_free)
void console_scanner_feed(struct console_scanner *scanner, const void *data, size_t len);
/* Takes the last line without an end into account; may be called again after more bytes. */
void console_scanner_verdict(const struct console_scanner *scanner, struct console_verdict *ret);

/* A whole file. A missing one is an empty console. */
int console_scan(const char *path, struct console_verdict *ret,
		 struct lab_error *err) LAB_MUST_CHECK;

#endif
