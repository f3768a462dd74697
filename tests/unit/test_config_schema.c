/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"
#include "config/schema.h"

static const char *const directions[] = {"up", "down", "none", NULL};

static const struct config_key step_keys[] = {
	{"name", CONFIG_STRING, .required = true},
	{"argv", CONFIG_STRINGS, .required = true},
	{"timeout", CONFIG_DURATION, .min = 1000, .max = 3600000},
	{NULL},
};

static const struct config_key root_keys[] = {
	{"name", CONFIG_STRING, .required = true},
	{"n", CONFIG_UINT, .min = 1, .max = 1000},
	{"offset", CONFIG_INT},
	{"ratio", CONFIG_NUMBER},
	{"emulated", CONFIG_BOOL},
	{"memory", CONFIG_SIZE, .min = 64 << 20},
	{"direction", CONFIG_STRING, .choices = directions},
	{"directions", CONFIG_STRINGS, .choices = directions, .may_be_empty = true},
	{"steps", CONFIG_SEQ, .sub = step_keys},
	{"presets", CONFIG_MAP, .open = true, .sub = step_keys},
	{"sysctl", CONFIG_MAP, .open = true, .element = CONFIG_STRING},
	{"sizes", CONFIG_SEQ, .element = CONFIG_SIZE},
	{"step", CONFIG_MAP, .sub = step_keys},
	{"note", CONFIG_STRING, .may_be_empty = true},
	{"any", CONFIG_ANY},
	{NULL},
};

static const struct {
	const char *text;
	const char *error; /* NULL: fine */
} cases[] = {
	{"name: x", NULL},
	{"name: 6.1", NULL},
	{"name: ''", "f:1:7: 'name' is empty"},
	{"name: x\nnote: ''", NULL},
	{"name:", "f:1:1: 'name' has no value; it must be a text"},
	{"name: [x]", "f:1:7: 'name' must be a text, not a list"},
	{"name: {}", "f:1:7: 'name' must be a text, not a map"},
	{"- x", "f:1:1: a map of keys and values must stand here, not a list"},
	{"x", "f:1:1: a map of keys and values must stand here, not text"},
	{"n: 3", "f:1:1: 'name' is missing"},
	{"name: x\n\nstesp: []", "f:3:1: unknown key 'stesp'; did you mean 'steps'?"},
	{"name: x\nzebra: 1",
	 "f:2:1: unknown key 'zebra'; known here: name, n, offset, ratio, emulated, memory, "
	 "direction, directions, steps, presets, sysctl, sizes, step, note, any"},
	{"name: x\nn: three", "f:2:4: 'n' must be a whole number, 0 or more, not 'three'"},
	{"name: x\nn: \"3\"", "f:2:4: 'n' must be a whole number, 0 or more, without quotes"},
	{"name: x\nn: -3", "f:2:4: 'n' must be a whole number, 0 or more, not '-3'"},
	{"name: x\nn: 0", "f:2:4: 'n' must be at least 1, not 0"},
	{"name: x\nn: 1001", "f:2:4: 'n' must be at most 1000, not 1001"},
	{"name: x\nn: 99999999999999999999",
	 "f:2:4: 'n' must be a whole number, 0 or more, not '99999999999999999999'"},
	{"name: x\noffset: -3", NULL},
	{"name: x\noffset: 1.5", "f:2:9: 'offset' must be a whole number, not '1.5'"},
	{"name: x\nratio: 1.5", NULL},
	{"name: x\nratio: 1,5", "f:2:8: 'ratio' must be a number, not '1,5'"},
	{"name: x\nratio: .nan", "f:2:8: 'ratio' must be a number, not '.nan'"},
	{"name: x\nemulated: true", NULL},
	{"name: x\nemulated: yes", "f:2:11: 'emulated' must be true or false, not 'yes'"},
	{"name: x\nmemory: \"64 MiB\"", NULL},
	{"name: x\nmemory: 64 KiB", "f:2:9: 'memory' must be at least 64.0 MiB, not 64 KiB"},
	{"name: x\nmemory: lots",
	 "f:2:9: 'memory' must be a size such as 64 KiB or 2 GiB, not 'lots'"},
	{"name: x\ndirection: dwon", "f:2:12: 'direction' cannot be 'dwon'; did you mean 'down'?"},
	{"name: x\ndirection: sideways",
	 "f:2:12: 'direction' cannot be 'sideways', only one of: up, down, none"},
	{"name: x\ndirections: [up, dwon]",
	 "f:2:18: each of 'directions' cannot be 'dwon'; did you mean 'down'?"},
	{"name: x\ndirections: up", NULL},
	{"name: x\ndirections: []", NULL},
	{"name: x\ndirections: {a: b}", "f:2:13: 'directions' must be a list of texts, not a map"},
	{"name: x\nsteps: []", "f:2:8: 'steps' is empty"},
	{"name: x\nsteps:\n- name: a", "f:3:3: 'argv' is missing"},
	{"name: x\nsteps:\n- {name: a, argv: []}", "f:3:19: 'argv' is empty"},
	{"name: x\nsteps:\n- {name: a, argv: [a, '']}", NULL},
	{"name: x\nsteps:\n- {name: a, argv: [a, [b]]}",
	 "f:3:23: each of 'argv' must be a text, not a list"},
	{"name: x\nsteps: [a]", "f:2:9: each of 'steps' must be a map, not 'a'"},
	{"name: x\nsteps: a", "f:2:8: 'steps' must be a list, not 'a'"},
	{"name: x\nsteps:\n- {name: a, argv: b, timeout: 10}",
	 "f:3:31: 'timeout' must be a duration such as 250ms, 10 s or 5m, not '10'"},
	{"name: x\nsteps:\n- {name: a, argv: b, timeout: 5ms}",
	 "f:3:31: 'timeout' must be at least 1.0 s, not 5ms"},
	{"name: x\npresets:\n  demo: {name: a, agrv: b}",
	 "f:3:19: unknown key 'agrv'; did you mean 'argv'?"},
	{"name: x\npresets:\n  demo: 3", "f:3:9: 'demo' must be a map, not '3'"},
	{"name: x\nsysctl: {vm.swappiness: 60}", NULL},
	{"name: x\nsysctl: {vm.swappiness: }",
	 "f:2:10: 'vm.swappiness' has no value; it must be a text"},
	{"name: x\nsizes: [1 KiB, x]",
	 "f:2:16: each of 'sizes' must be a size such as 64 KiB or 2 GiB, not 'x'"},
	{"name: x\nstep: 1", "f:2:7: 'step' must be a map, not '1'"},
	{"name: x\nany: [{a: 1}]", NULL},
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < LAB_COUNT(cases); i++) {
		LAB_CLEANUP(config_doc) struct config_doc *doc = NULL;
		struct lab_error err = {0};
		int rc;

		assert_int_equal(
			config_doc_parse("f", cases[i].text, strlen(cases[i].text), &doc, &err), 0);
		rc = config_check(config_doc_root(doc), root_keys, &err);
		assert_string_equal(err.text, cases[i].error ? cases[i].error : "");
		assert_int_equal(rc, cases[i].error ? -1 : 0);
		assert_int_equal(err.kind, cases[i].error ? LAB_ERR_INVALID : LAB_ERR_NONE);
	}
}

static void test_getters(void **state)
{
	static const char text[] =
		"name: x\nn: 7\noffset: -2\nratio: 0.25\nemulated: true\nmemory: 128 MiB\n"
		"directions: [up, down]\nstep: {name: s, argv: run, timeout: 2 s}\n";
	LAB_CLEANUP(config_doc) struct config_doc *doc = NULL;
	const struct config_node *root, *step;
	struct lab_error err = {0};

	(void)state;
	assert_int_equal(config_doc_parse("f", text, sizeof(text) - 1, &doc, &err), 0);
	root = config_doc_root(doc);
	assert_int_equal(config_check(root, root_keys, &err), 0);
	assert_string_equal(config_get_str(root, "name", NULL), "x");
	assert_string_equal(config_get_str(root, "note", "none"), "none");
	assert_int_equal(config_get_u64(root, "n", 1), 7);
	assert_int_equal(config_get_u64(root, "missing", 1), 1);
	assert_true(config_get_i64(root, "offset", 0) == -2);
	assert_true(config_get_number(root, "ratio", 0) == 0.25);
	assert_true(config_get_bool(root, "emulated", false));
	assert_true(config_get_bool(root, "missing", true));
	assert_int_equal(config_get_size(root, "memory", 0), 128 << 20);
	assert_int_equal(config_strings_len(root, "directions"), 2);
	assert_string_equal(config_strings_at(root, "directions", 1), "down");
	assert_null(config_strings_at(root, "directions", 2));
	assert_int_equal(config_strings_len(root, "missing"), 0);
	step = config_map_get(root, "step");
	assert_int_equal(config_get_duration(step, "timeout", 0), 2000);
	assert_int_equal(config_strings_len(step, "argv"), 1);
	assert_string_equal(config_strings_at(step, "argv", 0), "run");
	assert_null(config_strings_at(step, "argv", 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_getters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
