/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_GUEST_MODULES_H
#define LAB_GUEST_MODULES_H

#include <stdbool.h>

#include "guest-agent/agent.h"

/*
 * Loads the modules of /modules.list that were not loaded yet, in its order, until
 * `enough` (may be NULL) says true. A module that is there already is fine; one
 * that cannot be loaded is said on the console, and whoever needs it will fail
 * by name. No list: nothing to do.
 */
void modules_load(struct agent *agent, bool (*enough)(void *ctx), void *ctx);

#endif
