/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_BUILDER_STRAYS_H
#define LAB_BUILDER_STRAYS_H

#include <stdint.h>

#include "common/err.h"

/*
 * Kills every process of ours whose environment holds `mark` ("NAME=value") and waits
 * until they are gone: a labctl that was killed takes make with it, but not the compilers.
 */
int strays_end(const char *mark, uint64_t wait_ms, struct lab_error *err) LAB_MUST_CHECK;

#endif
