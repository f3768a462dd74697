/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which QEMU takes our plugin, on programs that say what such QEMUs say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/file.h"
#include "common/mem.h"
#include "vmctl/plugin.h"

static char *qemu(const char *dir, const char *script)
{
	char *path = lab_path_join(dir, "qemu");
	LAB_CLEANUP(free) char *text = lab_asprintf("#!/bin/sh\n%s\n", script);

	assert_int_equal(lab_write_file(path, text, strlen(text), 0755, NULL), 0);
	return path;
}

static void test_loads(void **state)
{
	char dir[] = "/tmp/labctl-test-XXXXXX";
	LAB_CLEANUP(free) char *plugin = NULL;
	LAB_CLEANUP(free) char *comma = NULL;
	LAB_CLEANUP(free) char *path = NULL;
	struct lab_error err = {0};

	(void)state;
	assert_non_null(mkdtemp(dir));
	plugin = lab_path_join(dir, "labctl-profile.so");
	comma = lab_path_join(dir, "a,b.so");
	path = qemu(dir,
		    "case \"$*\" in *'-plugin file='*/labctl-profile.so) ;; *) exit 0 ;; esac\n"
		    "echo 'labctl-profile: out=FILE is missing' >&2; exit 1");
	assert_int_equal(plugin_loads(path, plugin, &err), -1);
	assert_int_equal(err.kind, LAB_ERR_NOT_FOUND);
	assert_int_equal(lab_write_file(plugin, "", 0, 0644, NULL), 0);
	assert_int_equal(lab_write_file(comma, "", 0, 0644, NULL), 0);
	assert_int_equal(plugin_loads(path, plugin, &err), 0);
	assert_int_equal(plugin_loads(path, comma, &err), -1);
	assert_non_null(strstr(err.text, "comma"));
	free(path);
	path = qemu(dir, "echo 'qemu: -plugin file=x: invalid option' >&2; exit 1");
	assert_int_equal(plugin_loads(path, plugin, &err), -1);
	assert_int_equal(err.kind, LAB_ERR_UNAVAILABLE);
	assert_non_null(strstr(err.text, "invalid option"));
	assert_non_null(strstr(err.text, "everything else works without --profile"));
	assert_int_equal(lab_remove_tree(dir, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
