/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts, sources, patchsets, states and samples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <math.h>

#include "lab_fixture.h"
#include "store/facts.h"
#include "store/patchset.h"
#include "store/sample.h"
#include "store/source.h"
#include "store/state.h"

/* The structs own their strings; the store only reads these. */
#define S(literal) ((char *)(literal))

static void test_facts(void **state)
{
	struct lab_fixture *f = *state;
	char *json = NULL;

	assert_ok(fact_get(f->lab, "kvm", "boot-1/7.2", &json, err));
	assert_null(json);
	assert_ok(fact_put(f->lab, "kvm", "boot-1/7.2", "{\"works\":false}", err));
	assert_ok(fact_put(f->lab, "kvm", "boot-1/8.0", "{\"works\":true}", err));
	assert_ok(fact_put(f->lab, "kvm", "boot-1/7.2", "{\"works\":null}", err));
	lab_reopen(f);
	assert_ok(fact_get(f->lab, "kvm", "boot-1/7.2", &json, err));
	assert_string_equal(json, "{\"works\":null}");
	free(json);
	assert_ok(fact_get(f->lab, "kvm", "boot-1/8.0", &json, err));
	assert_string_equal(json, "{\"works\":true}");
	free(json);
	assert_ok(fact_get(f->lab, "kvm", "boot-2/8.0", &json, err));
	assert_null(json);
	assert_fails(fact_put(f->lab, "kvm", "x", "{", err), LAB_ERR_INVALID, "kvm");
	assert_fails(fact_put(f->lab, "kvm", "x", "[]", err), LAB_ERR_INVALID, "object");
}

static void test_host_facts(void **state)
{
	LAB_CLEANUP(free) char *text = host_facts_json("QEMU 7.2.22");
	LAB_CLEANUP(free) char *none = host_facts_json(NULL);
	LAB_CLEANUP(free) char *boot_id = NULL;
	json_t *facts = json_loads(text, 0, NULL);
	json_t *without = json_loads(none, 0, NULL);

	(void)state;
	assert_ok(host_boot_id(&boot_id, err));
	assert_int_equal(strlen(boot_id), 36);
	assert_non_null(facts);
	assert_string_equal(json_string_value(json_object_get(facts, "boot_id")), boot_id);
	assert_string_equal(json_string_value(json_object_get(facts, "qemu")), "QEMU 7.2.22");
	assert_null(json_object_get(without, "qemu"));
	assert_true(json_integer_value(json_object_get(facts, "cpus")) > 0);
	assert_true(json_integer_value(json_object_get(facts, "memory_bytes")) > 1 << 20);
	assert_true(strlen(json_string_value(json_object_get(facts, "kernel"))) > 0);
	json_decref(facts);
	json_decref(without);
}

static void test_sources(void **state)
{
	struct lab_fixture *f = *state;
	struct source mm = {
		.name = S("mm"), .kind = S("git"), .url = S("https://example.org/mm.git")};
	struct source a = {.name = S("a.tarball"),
			   .kind = S("tarball"),
			   .url = S("/x.tar.xz"),
			   .reference = S("/home/linux"),
			   .base_branch = S("main")};
	static const char *const bad[] = {"", "-x", ".x", "a/b", "a b", "..", "_"};
	LAB_CLEANUP(source_list) struct source_list list = {0};
	struct source *found = NULL;

	assert_fails(source_find(f->lab, "mm", &found, err), LAB_ERR_NOT_FOUND, "source add");
	assert_ok(source_add(f->lab, &mm, err));
	assert_ok(source_add(f->lab, &a, err));
	assert_fails(source_add(f->lab, &mm, err), LAB_ERR_INVALID, "already");
	for (size_t i = 0; i < LAB_COUNT(bad); i++) {
		struct source s = {.name = S(bad[i]), .kind = S("git"), .url = S("x")};

		assert_fails(source_add(f->lab, &s, err), LAB_ERR_INVALID, "no name");
	}
	assert_fails(source_find(f->lab, "m", &found, err), LAB_ERR_NOT_FOUND, "a.tarball, mm");
	mm.reference = S("/home/kim/linux");
	assert_ok(source_update(f->lab, &mm, err));
	assert_ok(source_find(f->lab, "mm", &found, err));
	assert_string_equal(found->url, "https://example.org/mm.git");
	assert_string_equal(found->reference, "/home/kim/linux");
	assert_null(found->base_branch);
	assert_true(found->created > 0);
	source_free(found);
	assert_ok(source_list(f->lab, &list, err));
	assert_int_equal(list.n, 2);
	assert_string_equal(list.items[0]->name, "a.tarball");
	assert_string_equal(list.items[0]->base_branch, "main");
	assert_ok(source_remove(f->lab, "mm", err));
	assert_fails(source_remove(f->lab, "mm", err), LAB_ERR_NOT_FOUND, "'mm'");
	assert_fails(source_update(f->lab, &mm, err), LAB_ERR_NOT_FOUND, "'mm'");
}

static const struct patchset change = {
	.source = S("mm"),
	.spec = S("refs/changes/30/1430/1"),
	.base = S("1111111111111111111111111111111111111111"),
	.base_name = S("v6.1"),
	.base_how = S("nearest tag under the change"),
	.head = S("2222222222222222222222222222222222222222"),
	.commits = 2,
	.subjects = S("[\"mm: one\",\"mm: two\"]"),
	.kernel_a = S("a1b2c3d4"),
	.kernel_b = S("f6e5d4c3"),
};

static void test_patchsets(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(patchset_list) struct patchset_list list = {0};
	struct patchset other = change;
	struct patchset *p = NULL;
	int64_t first, second, again;

	other.spec = S("main~2..main");
	other.head = S("3333333333333333333333333333333333333333");
	assert_fails(patchset_latest(f->lab, &p, err), LAB_ERR_NOT_FOUND, "labctl build");
	assert_fails(patchset_find(f->lab, "refs/x", &p, err), LAB_ERR_NOT_FOUND,
		     "labctl build refs/x");
	assert_ok(patchset_put(f->lab, &change, &first, err));
	assert_ok(patchset_put(f->lab, &other, &second, err));
	assert_ok(patchset_latest(f->lab, &p, err));
	assert_string_equal(p->spec, other.spec);
	patchset_free(p);
	/* Built again, it is the same one and the latest. */
	assert_ok(patchset_put(f->lab, &change, &again, err));
	assert_true(again == first && second != first);
	assert_ok(patchset_latest(f->lab, &p, err));
	assert_true(p->id == first);
	assert_string_equal(p->base_how, change.base_how);
	assert_string_equal(p->subjects, change.subjects);
	assert_int_equal(p->commits, 2);
	patchset_free(p);
	assert_ok(patchset_find(f->lab, "2222222", &p, err));
	assert_true(p->id == first);
	patchset_free(p);
	assert_ok(patchset_find(f->lab, "main~2..main", &p, err));
	assert_true(p->id == second);
	patchset_free(p);
	assert_ok(patchset_find(f->lab, "2", &p, err));
	assert_true(p->id == second);
	patchset_free(p);
	assert_fails(patchset_find(f->lab, "222222", &p, err), LAB_ERR_NOT_FOUND, "222222");
	assert_ok(patchset_list(f->lab, &list, err));
	assert_int_equal(list.n, 2);
	assert_true(list.items[1]->id == first);
	other.subjects = S("{}");
	assert_fails(patchset_put(f->lab, &other, NULL, err), LAB_ERR_INVALID, "array");
}

/* Every name of DESIGN section 5 is in exactly one class. */
static void test_states(void **state)
{
	static const char *const outcomes[] = {"done", "panic",	  "oops",    "oom",
					       "hang", "stalled", "workload"};
	static const char *const faults[] = {"lost", "io-error", "host-timeout", "cancelled"};
	static const char *const open[] = {"planned", "running", "", "Done", "nonsense"};

	(void)state;
	for (size_t i = 0; i < LAB_COUNT(outcomes); i++)
		assert_true(run_state_is_outcome(outcomes[i]) && !run_state_is_fault(outcomes[i]) &&
			    run_state_is_final(outcomes[i]));
	for (size_t i = 0; i < LAB_COUNT(faults); i++)
		assert_true(!run_state_is_outcome(faults[i]) && run_state_is_fault(faults[i]) &&
			    run_state_is_final(faults[i]));
	for (size_t i = 0; i < LAB_COUNT(open); i++)
		assert_false(run_state_is_final(open[i]));
	assert_string_equal(run_state_label("oom"), "OOM killed");
	assert_string_equal(run_state_label("nonsense"), "nonsense");
}

static void test_samples(void **state)
{
	LAB_CLEANUP(sample) struct sample s = SAMPLE_INIT;
	const struct sample_value *v;

	(void)state;
	for (int i = 0; i < 100; i++) {
		assert_int_equal(sample_add(&s, "time", i), 0);
		assert_int_equal(sample_add_at(&s, "Slab", 1000 + i, 1000000000LL * i), 0);
	}
	assert_int_equal(sample_add(&s, "time", NAN), -1);
	assert_int_equal(sample_add(&s, "time", INFINITY), -1);
	/* Times with all values or with none. */
	assert_int_equal(sample_add_at(&s, "time", 1, 1), -1);
	assert_int_equal(sample_add(&s, "Slab", 1), -1);
	assert_int_equal(s.n, 2);
	v = sample_find(&s, "Slab");
	assert_int_equal(v->n, 100);
	assert_true(v->values[99] == 1099 && v->t_ns[99] == 99000000000LL);
	v = sample_find(&s, "time");
	assert_true(v->n == 100 && v->values[42] == 42 && !v->t_ns);
	assert_null(sample_find(&s, "other"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LAB_TEST(test_facts),	       cmocka_unit_test(test_host_facts),
		LAB_TEST(test_sources),	       LAB_TEST(test_patchsets),
		cmocka_unit_test(test_states), cmocka_unit_test(test_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
