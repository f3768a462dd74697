/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libFuzzer target: clang -fsanitize=fuzzer,address with libworkloads and libcommon.
 * Whatever comes in, the parser ends, and a number it yields stands in the input.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "workloads/hackbench.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct hackbench_form form = {
		.groups = 2, .fds = 20, .loops = 100, .datasize = 100};
	LAB_CLEANUP(strv) struct lab_strv notes = LAB_STRV_INIT;
	LAB_CLEANUP(free) char *text = lab_memdup(data, size);
	struct lab_error err;
	double seconds;
	char *at;

	if (hackbench_parse(text, size, &form, &seconds, &notes, &err))
		return 0;
	at = memmem(text, size, "\nTime: ", 7);
	if (!at || strtod(at + 7, NULL) != seconds)
		abort();
	return 0;
}
