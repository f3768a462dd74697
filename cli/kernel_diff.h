/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_CLI_KERNEL_DIFF_H
#define LAB_CLI_KERNEL_DIFF_H

#include <jansson.h>

#include "builder/config_diff.h"
#include "common/buf.h"

/* [{symbol, a, b}, ...]; a value is null where the kernel has no such symbol. */
json_t *kernel_diff_json(const struct config_diff *diff);

/*
 * The differences in a few words for one line: "+LRU_GEN=y SLAB_MERGE_DEFAULT=y->n
 * (1 new, 1 changed)"; "+" is a symbol that only B has, "-" one that only A has. At
 * most `most` symbols are named.
 */
void kernel_diff_line(const struct config_diff *diff, size_t most, struct lab_buf *out);

#endif
