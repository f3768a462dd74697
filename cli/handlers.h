/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_CLI_HANDLERS_H
#define LAB_CLI_HANDLERS_H

/* One handler per command, each in its cmd_NAME.c; the rows are in commands.c. */

#include "cli/command.h"

extern const struct cli_handler cmd_build;
extern const struct cli_handler cmd_bundle;
extern const struct cli_handler cmd_clean;
extern const struct cli_handler cmd_compare;
extern const struct cli_handler cmd_completion;
extern const struct cli_handler cmd_diff;
extern const struct cli_handler cmd_doctor;
extern const struct cli_handler cmd_help;
extern const struct cli_handler cmd_image_build;
extern const struct cli_handler cmd_init;
extern const struct cli_handler cmd_list;
extern const struct cli_handler cmd_profile;
extern const struct cli_handler cmd_ps;
extern const struct cli_handler cmd_report;
extern const struct cli_handler cmd_reproduce;
extern const struct cli_handler cmd_rerun;
extern const struct cli_handler cmd_run;
extern const struct cli_handler cmd_show;
extern const struct cli_handler cmd_source_add;
extern const struct cli_handler cmd_source_fetch;
extern const struct cli_handler cmd_source_list;
extern const struct cli_handler cmd_source_rm;
extern const struct cli_handler cmd_source_show;

#endif
