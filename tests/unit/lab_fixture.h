/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_TESTS_LAB_FIXTURE_H
#define LAB_TESTS_LAB_FIXTURE_H

/*
 * A lab of its own for each test: lab_set_up and lab_tear_down go around it, *state is
 * a struct lab_fixture. Include after cmocka.h.
 */

#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/mem.h"
#include "store/lab.h"

struct lab_fixture {
	char *top; /* a temporary directory */
	char *dir; /* top/lab */
	struct lab *lab;
};

/* Fails the test with err's words. */
#define assert_ok(call)                                                       \
	do {                                                                  \
		struct lab_error ok_err_ = {0};                               \
		struct lab_error *err = &ok_err_;                             \
		if ((call) < 0)                                               \
			fail_msg("%s:%d: %s", __FILE__, __LINE__, err->text); \
	} while (0)

/* The call must fail in this kind and with these words in its message. */
#define assert_fails(call, want_kind, words)                                                      \
	do {                                                                                      \
		struct lab_error fails_err_ = {0};                                                \
		struct lab_error *err = &fails_err_;                                              \
		assert_int_equal((call), -1);                                                     \
		if (err->kind != (want_kind) || !strstr(err->text, (words)))                      \
			fail_msg("%s:%d: kind %d: %s", __FILE__, __LINE__, err->kind, err->text); \
	} while (0)

#define LAB_TEST(name) cmocka_unit_test_setup_teardown(name, lab_set_up, lab_tear_down)

static inline int lab_set_up(void **state)
{
	char name[] = "/tmp/labctl-test-XXXXXX";
	struct lab_fixture *f = LAB_NEW(struct lab_fixture);

	assert_non_null(mkdtemp(name));
	f->top = lab_strdup(name);
	f->dir = lab_path_join(name, "lab");
	assert_ok(lab_init(f->dir, err));
	assert_ok(lab_open(f->dir, &f->lab, err));
	*state = f;
	return 0;
}

static inline int lab_tear_down(void **state)
{
	struct lab_fixture *f = *state;

	/* Whatever was done to it, its database is whole. */
	if (f->lab)
		assert_ok(lab_check(f->lab, err));
	lab_free(f->lab);
	assert_ok(lab_remove_tree(f->top, err));
	free(f->top);
	free(f->dir);
	free(f);
	return 0;
}

/* Closes the lab and opens it anew, as another labctl would. */
static inline void lab_reopen(struct lab_fixture *f)
{
	lab_free(f->lab);
	f->lab = NULL;
	assert_ok(lab_open(f->dir, &f->lab, err));
}

#endif
