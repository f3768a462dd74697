/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"
#include "experiments/definition.h"
#include "experiments/resolve.h"

#define HEAD "title: t\nimage: i\n"
#define PHASES "phases:\n- name: run\n  workload: hackbench\n"
#define PRESETS "presets:\n  s: {memory: 64 MiB, n: 2}\n"

static void refuse(const char *text, const char *words)
{
	struct experiment *e = NULL;
	struct lab_error err = {0};

	assert_int_equal(experiment_parse("x.yaml", text, strlen(text), &e, &err), -1);
	assert_null(e);
	if (strcmp(err.text, words) != 0)
		fail_msg("%s\nsaid '%s'", text, err.text);
}

static struct experiment *accept(const char *text)
{
	struct experiment *e = NULL;
	struct lab_error err;

	if (experiment_parse("dir/x.yaml", text, strlen(text), &e, &err))
		fail_msg("%s", err.text);
	return e;
}

static void test_smallest(void **state)
{
	LAB_CLEANUP(experiment) struct experiment *e = accept(HEAD PHASES PRESETS);

	(void)state;
	assert_string_equal(e->name, "x");
	assert_string_equal(e->target, "live");
	assert_int_equal(e->n_variants, 2);
	assert_string_equal(e->variants[1].kernel, "B");
	assert_int_equal(e->presets[0].vcpus, 1);
	assert_int_equal(e->presets[0].memory, 64 << 20);
	assert_int_equal(e->presets[0].deadlines.boot, 60000);
	assert_ptr_equal(experiment_preset(e, NULL, NULL), &e->presets[0]);
}

static void test_whole(void **state)
{
	LAB_CLEANUP(experiment)
	struct experiment *e = accept(
		HEAD
		"patchset: refs/x\naa: true\ncpu-model: Nehalem\n"
		"kernel: {config: [CONFIG_A=y], fragments: debug, cmdline: quiet}\n"
		"variants:\n  base: {kernel: A}\n"
		"  off: {kernel: A, cmdline: slab_nomerge, settings: {thp: always}}\n"
		"settings: {sysctl: {vm.swappiness: 10}, thp: never, write: {/sys/x: 1}}\n"
		"phases:\n- {name: warm, workload: 'true'}\n"
		"- {name: run, workload: hackbench, options: {groups: 3}, timeout: 10 s}\n"
		"factors:\n  size:\n    small: {}\n    large: {options: {run: {datasize: 4 KiB}}}\n"
		"collect: {interval: 1 s, series: [meminfo], snapshots: sysctl}\n"
		"presets:\n  s: {memory: 1 GiB, vcpus: 2, data: 1 GiB, swap: 64 MiB, n: 3, interval: 2 s,\n"
		"      options: {run: {loops: 7}}, deadlines: {boot: 5 s}}\n");

	(void)state;
	assert_true(e->aa);
	assert_string_equal(e->variants[1].cmdline, "slab_nomerge");
	assert_int_equal(e->settings.n, 3);
	assert_string_equal(e->settings.items[1].key,
			    "/sys/kernel/mm/transparent_hugepage/enabled");
	assert_int_equal(e->factors[0].n, 2);
	assert_int_equal(e->phases[1].timeout_ms, 10000);
	assert_string_equal(e->fragments.items[0], "debug");
	assert_string_equal(e->collect.snapshots.items[0], "sysctl");
	assert_int_equal(e->presets[0].swap, 64 << 20);
	assert_int_equal(e->presets[0].interval_ms, 2000);
	assert_int_equal(e->presets[0].deadlines.boot, 5000);
}

static void test_schema_errors(void **state)
{
	(void)state;
	refuse("title: t\n" PHASES PRESETS, "x.yaml:1:1: 'image' is missing");
	refuse(HEAD "imgae: x\n" PHASES PRESETS,
	       "x.yaml:3:1: unknown key 'imgae'; did you mean 'image'?");
	refuse(HEAD PHASES "presets:\n  s: {n: 2}\n", "x.yaml:7:6: 'memory' is missing");
	refuse(HEAD PHASES "presets:\n  s: {memory: 64 MiB}\n", "x.yaml:7:6: 'n' is missing");
	refuse(HEAD PHASES "presets:\n  s: {memory: 64 MiB, n: 0}\n",
	       "x.yaml:7:26: 'n' must be at least 1, not 0");
	refuse(HEAD PHASES "presets:\n  s: {memory: lots, n: 1}\n",
	       "x.yaml:7:15: 'memory' must be a size such as 64 KiB or 2 GiB, not 'lots'");
	refuse(HEAD PHASES "presets:\n  s: {memory: 100000000, n: 1}\n",
	       "x.yaml:7:15: memory comes in whole MiB");
	refuse(HEAD PHASES "collect: {series: [meminfos]}\n" PRESETS,
	       "x.yaml:6:20: each of 'series' cannot be 'meminfos'; did you mean 'meminfo'?");
	refuse(HEAD PHASES "presets:\n  a b: {memory: 64 MiB, n: 1}\n",
	       "x.yaml:7:3: the name of a preset is made of at most 32 letters, digits and "
	       "_ . + - after the first, not 'a b'");
}

static void test_meaning_errors(void **state)
{
	(void)state;
	refuse(HEAD "phases:\n- {name: run, workload: hackbnch}\n" PRESETS,
	       "x.yaml:4:25: no workload is named 'hackbnch'; did you mean 'hackbench'?");
	refuse(HEAD "phases:\n- {name: go, workload: hackbench}\n" PRESETS,
	       "x.yaml:4:1: no phase is named 'run': that is the one that is measured");
	refuse(HEAD
	       "phases:\n- {name: run, workload: 'true'}\n- {name: run, workload: 'true'}\n" PRESETS,
	       "x.yaml:5:10: two phases are named 'run'");
	refuse(HEAD "phases:\n- {name: Run, workload: 'true'}\n" PRESETS,
	       "x.yaml:4:10: the name of a phase is made of small letters, digits and -");
	refuse(HEAD "phases:\n- {name: run, workload: hackbench, options: {group: 2}}\n" PRESETS,
	       "x.yaml:4:46: workload 'hackbench' has no option 'group' (did you mean 'groups'?)");
	refuse(HEAD "phases:\n- {name: run, workload: hackbench, options: {groups: two}}\n" PRESETS,
	       "x.yaml:4:54: option 'groups' wants a whole number, not 'two'");
	refuse(HEAD "phases:\n- {name: run, workload: hackbench, options: {forms: [x]}}\n" PRESETS,
	       "x.yaml:4:53: option 'forms' knows no 'x'");
	refuse(HEAD PHASES "presets:\n  s: {memory: 64 MiB, n: 1, options: {rnu: {groups: 2}}}\n",
	       "x.yaml:7:39: no phase is named 'rnu'; did you mean 'run'?");
	refuse(HEAD PHASES "presets:\n  s: {memory: 64 MiB, n: 1, options: {run: {loops: 0}}}\n",
	       "x.yaml:7:52: option 'loops' is at least 1");
	refuse(HEAD PHASES "variants: {A: {kernel: A}}\n" PRESETS,
	       "x.yaml:6:11: a comparison needs two variants or more");
	refuse(HEAD PHASES "factors: {size: {}}\n" PRESETS,
	       "x.yaml:6:17: factor 'size' has no level");
	refuse(HEAD PHASES "metrics: [Slob]\ncollect: {interval: 1 s, series: meminfo}\n" PRESETS,
	       "x.yaml:9:6: preset 's': nothing here measures 'Slob'; did you mean 'Slab'?");
	refuse(HEAD "phases:\n- {name: run, workload: command}\n" PRESETS,
	       "x.yaml:6:6: preset 's': phase 'run': workload 'command' needs option 'argv'");
	refuse(HEAD
	       "phases:\n- {name: run, workload: command, options: {argv: x, pattern: '('}}\n" PRESETS,
	       "x.yaml:6:6: preset 's': phase 'run': options 'pattern' and 'metric' need each "
	       "other");
}

/* Whatever a prefix of a good file is, it is refused with a place or accepted, never a crash. */
static void test_truncation(void **state)
{
	static const char whole[] = HEAD PHASES
		"factors: {size: {small: {}, large: {options: {run: {datasize: 4 KiB}}}}}\n" PRESETS;

	(void)state;
	for (size_t len = 0; len < sizeof(whole) - 1; len++) {
		LAB_CLEANUP(free) char *cut = lab_memdup(whole, len);
		LAB_CLEANUP(experiment) struct experiment *e = NULL;
		struct lab_error err = {0};

		if (experiment_parse("x.yaml", cut, len, &e, &err))
			assert_true(lab_starts_with(err.text, "x.yaml:"));
	}
}

static void test_override_order(void **state)
{
	LAB_CLEANUP(experiment)
	struct experiment *e = accept(
		HEAD "phases:\n- {name: run, workload: hackbench, options: {groups: 3, loops: 1}}\n"
		     "settings: {sysctl: {a.b: 1, c.d: 1}}\n"
		     "variants: {A: {settings: {sysctl: {a.b: 2}}}, B: {kernel: B}}\n"
		     "factors: {f: {x: {options: {run: {loops: 9}},"
		     " settings: {sysctl: {e.f: 3}}}}}\n"
		     "presets:\n  s: {memory: 64 MiB, n: 1, options: {run: {loops: 5, fds: 6}}}\n");
	LAB_CLEANUP(plan) struct plan *plan = NULL;
	LAB_CLEANUP(job) struct job job = JOB_INIT;
	LAB_CLEANUP(free) char *argv = NULL;
	struct resolve r;

	(void)state;
	assert_int_equal(plan_new(e, 1, 1, NULL, &plan, NULL), 0);
	r = (struct resolve){e, &e->presets[0], &e->variants[0], &plan->cells[0]};
	assert_int_equal(resolve_job(&r, 1, &job, NULL), 0);
	argv = lab_strv_join(&job.phases[0].steps[0].argv, " ");
	assert_string_equal(argv, "hackbench -P -p -g 3 -f 6 -l 9 -s 100");
	assert_int_equal(job.n_settings, 3);
	assert_string_equal(job.settings[0].value, "2");
	assert_string_equal(job.settings[1].value, "1");
	assert_string_equal(job.settings[2].key, "e.f");
}

static void test_metrics(void **state)
{
	LAB_CLEANUP(experiment)
	struct experiment *e =
		accept(HEAD PHASES "metrics: [Slab, hackbench_thread_pipes_10]\n"
				   "collect: {interval: 1 s, series: meminfo}\n" PRESETS);
	LAB_CLEANUP(metric_list) struct metric_list metrics = {0};
	LAB_CLEANUP(plan) struct plan *plan = NULL;

	(void)state;
	assert_int_equal(plan_new(e, 1, 1, NULL, &plan, NULL), 0);
	assert_int_equal(resolve_metrics(e, &e->presets[0], plan, &metrics, NULL), 0);
	assert_int_equal(metrics.n, 2);
	assert_string_equal(metrics.items[0].name, "Slab");
	assert_true(metrics.items[0].sampled);
	assert_string_equal(metrics.items[1].name, "hackbench_thread_pipes_10");
}

static void test_find(void **state)
{
	LAB_CLEANUP(experiment) struct experiment *e = NULL;
	LAB_CLEANUP(strv) struct lab_strv names = LAB_STRV_INIT;
	struct lab_error err;

	(void)state;
	assert_int_equal(experiment_find("experiments/definitions", "slab-nomerg", &e, &err), -1);
	assert_string_equal(err.text, "no experiment 'slab-nomerg'; did you mean 'slab-nomerge'?");
	assert_int_equal(err.kind, LAB_ERR_NOT_FOUND);
	assert_int_equal(experiment_list("experiments/definitions", &names, NULL), 0);
	assert_true(lab_strv_has(&names, "slab-nomerge"));
	if (experiment_find("/nowhere", "experiments/definitions/slab-nomerge.yaml", &e, &err))
		fail_msg("%s", err.text);
	assert_string_equal(e->name, "slab-nomerge");
	assert_null(experiment_preset(e, "huge", &err));
	assert_string_equal(err.text,
			    "experiment 'slab-nomerge' has no preset 'huge', only: demo, full");
}

/* Every definition that is installed can be read, and all its presets resolve. */
static void test_installed(void **state)
{
	LAB_CLEANUP(strv) struct lab_strv names = LAB_STRV_INIT;

	(void)state;
	assert_int_equal(experiment_list("experiments/definitions", &names, NULL), 0);
	assert_true(names.n > 0);
	for (size_t i = 0; i < names.n; i++) {
		LAB_CLEANUP(experiment) struct experiment *e = NULL;
		struct lab_error err;

		if (experiment_find("experiments/definitions", names.items[i], &e, &err))
			fail_msg("%s", err.text);
		assert_non_null(e->method);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_smallest),      cmocka_unit_test(test_whole),
		cmocka_unit_test(test_schema_errors), cmocka_unit_test(test_meaning_errors),
		cmocka_unit_test(test_truncation),    cmocka_unit_test(test_override_order),
		cmocka_unit_test(test_metrics),	      cmocka_unit_test(test_find),
		cmocka_unit_test(test_installed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
