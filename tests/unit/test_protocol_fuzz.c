/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The corpus of the fuzz target as an ordinary test, and each of its files cut and bent. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/file.h"
#include "common/mem.h"
#include "common/rng.h"
#include "tests/fuzz/fuzz_frame.c"

#define CORPUS "tests/fuzz/corpus/frame"

static void one_file(const char *path)
{
	LAB_CLEANUP(buf) struct lab_buf bytes = LAB_BUF_INIT;
	struct lab_rng rng;

	assert_int_equal(lab_read_file(path, 4 << 20, &bytes, NULL), 0);
	LLVMFuzzerTestOneInput((const uint8_t *)bytes.data, bytes.len);
	lab_rng_seed(&rng, bytes.len);
	for (int i = 0; i < 200 && bytes.len; i++) {
		size_t at = (size_t)lab_rng_below(&rng, bytes.len);
		char was = bytes.data[at];

		bytes.data[at] = (char)lab_rng_next(&rng);
		LLVMFuzzerTestOneInput((const uint8_t *)bytes.data, bytes.len);
		bytes.data[at] = was;
		LLVMFuzzerTestOneInput((const uint8_t *)bytes.data, at);
	}
}

static void test_corpus(void **state)
{
	LAB_CLEANUP(dir) DIR *dir = opendir(CORPUS);
	struct dirent *entry;
	int files = 0;

	(void)state;
	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		LAB_CLEANUP(free) char *path = lab_path_join(CORPUS, entry->d_name);

		if (!lab_file_exists(path))
			continue;
		one_file(path);
		files++;
	}
	assert_true(files >= 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_corpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
