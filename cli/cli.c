/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cli.h"

#include <string.h>

#include "cli/command.h"
#include "cli/exit.h"
#include "common/file.h"
#include "common/mem.h"

int cli_print_json(struct cli *cli, json_t *value, struct lab_error *err)
{
	char *text = value ? json_dumps(value, JSON_INDENT(2) | JSON_ENCODE_ANY) : NULL;

	json_decref(value);
	if (!text)
		return lab_error_set(err, LAB_ERR_FAILED,
				     "the result has text that is not UTF-8: JSON cannot hold it");
	term_printf(cli->term, "%s\n", text);
	free(text);
	return CLI_EXIT_OK;
}

void cli_print_buf(struct cli *cli, const struct lab_buf *buf)
{
	if (buf->len)
		term_print(cli->term, buf->data);
}

char *cli_lab_dir(const struct cli *cli, bool *ret_is_default)
{
	const char *env = getenv("LABCTL_LAB");

	*ret_is_default = false;
	if (cli->common.lab)
		return lab_strdup(cli->common.lab);
	if (env && env[0])
		return lab_strdup(env);
	*ret_is_default = true;
	return lab_default_dir();
}

int cli_open_lab(struct cli *cli, unsigned needs, const char *what, struct lab_error *err)
{
	LAB_CLEANUP(free) char *dir = NULL;
	LAB_CLEANUP(free) char *db = NULL;
	bool is_default;

	if (cli->lab)
		return 0;
	dir = cli_lab_dir(cli, &is_default);
	db = lab_path_join(dir, "lab.db");
	/* A name that was given and is mistyped must not become a new lab. */
	if ((needs & CLI_LAB_MAKE) && is_default && !lab_file_exists(db)) {
		if (lab_init(dir, err) < 0)
			return -1;
		term_say(cli->term, "made a lab in %s", dir);
	}
	if (lab_open(dir, &cli->lab, err) < 0)
		return -1;
	if ((needs & CLI_LAB_LOCK) && lab_lock(cli->lab, what, &cli->lock, err) < 0)
		return -1;
	return 0;
}

json_t *cli_json_text(const char *text)
{
	json_t *value = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;

	return value ? value : json_object();
}

json_t *cli_json_u64(uint64_t value)
{
	return json_sprintf("%llu", (unsigned long long)value);
}
