/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_CLI_CLI_H
#define LAB_CLI_CLI_H

/* What a command handler gets: where to print, the lab, where data lies. */

#include <stdbool.h>

#include <jansson.h>

#include "cli/paths.h"
#include "cli/term.h"
#include "common/buf.h"
#include "store/lab.h"

/* Values of the options that every command takes. */
struct cli_common {
	const char *lab;     /* --lab */
	const char *connect; /* --connect: libvirt URI, NULL: the default */
	bool help;
	bool json;
	bool version;
};

struct cli {
	struct cli_common common;
	struct cli_paths paths;
	struct term *term;
	struct lab *lab; /* open if the command's row says so */
	struct lab_lock *lock;
};

/*
 * Prints a JSON value as the result and drops the reference. Returns CLI_EXIT_OK, or -1
 * when the value is NULL, which jansson gives for text that is not UTF-8.
 */
int cli_print_json(struct cli *cli, json_t *value, struct lab_error *err) LAB_MUST_CHECK;
/* The same text as buf, as the result. */
void cli_print_buf(struct cli *cli, const struct lab_buf *buf);

/* The directory that --lab, $LABCTL_LAB or the default names; caller frees. */
char *cli_lab_dir(const struct cli *cli, bool *ret_is_default);
/*
 * Opens the lab into cli->lab as `needs` (enum cli_need) says, unless it is open already;
 * `what` is for the lock.
 */
int cli_open_lab(struct cli *cli, unsigned needs, const char *what,
		 struct lab_error *err) LAB_MUST_CHECK;

/* A parsed JSON text, or an empty object when it does not parse. */
json_t *cli_json_text(const char *text);
/* All 64 bits, as text: many readers of JSON keep fewer of a number. */
json_t *cli_json_u64(uint64_t value);

#endif
