/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The examples of docs/protocol.md are what the readers read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "common/file.h"
#include "common/mem.h"
#include "protocol/job.h"
#include "protocol/message.h"

#define PAGE "docs/protocol.md"
#define FENCE "```json\n"

struct seen {
	bool types[MESSAGE_DONE + 1];
	bool job;
	unsigned n;
};

static void check(json_t *json, struct seen *seen)
{
	struct message m;
	struct lab_error err = {0};
	LAB_CLEANUP(job) struct job job = JOB_INIT;

	if (message_read(json, &m, &err) < 0)
		fail_msg("%s: %s", PAGE, err.text);
	assert_int_not_equal(m.type, MESSAGE_UNKNOWN);
	seen->types[m.type] = true;
	seen->n++;
	if (m.type != MESSAGE_REQUEST || strcmp(m.u.request.op, "job") != 0)
		return;
	if (job_from_json(m.u.request.job, &job, &err) < 0)
		fail_msg("%s: %s", PAGE, err.text);
	seen->job = true;
}

/* All objects of one block, one behind the other. */
static void check_block(const char *text, size_t len, struct seen *seen)
{
	while (len) {
		json_error_t why;
		json_t *json = json_loadb(text, len, JSON_DISABLE_EOF_CHECK, &why);

		if (!json)
			fail_msg("%s: %s in: %.*s", PAGE, why.text, (int)len, text);
		check(json, seen);
		json_decref(json);
		text += why.position;
		len -= (size_t)why.position;
		while (len && (*text == '\n' || *text == ' ')) {
			text++;
			len--;
		}
	}
}

static void test_examples(void **state)
{
	LAB_CLEANUP(buf) struct lab_buf page = LAB_BUF_INIT;
	struct seen seen = {0};

	(void)state;
	assert_int_equal(lab_read_file(PAGE, 1 << 20, &page, NULL), 0);
	for (const char *s = page.data; (s = strstr(s, FENCE)) != NULL;) {
		const char *end;

		s += strlen(FENCE);
		end = strstr(s, "```");
		assert_non_null(end);
		check_block(s, (size_t)(end - s), &seen);
		s = end + 3;
	}
	/* Every message has an example. */
	for (size_t type = MESSAGE_HELLO; type <= MESSAGE_DONE; type++) {
		if (!seen.types[type])
			fail_msg("%s has no example of '%s'", PAGE, message_type_name(type));
	}
	assert_true(seen.job);
	assert_true(seen.n >= MESSAGE_DONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_examples)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
