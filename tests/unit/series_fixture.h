/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_TESTS_SERIES_FIXTURE_H
#define LAB_TESTS_SERIES_FIXTURE_H

/* Series messages as JSON. Include after cmocka.h. */

#include <stdlib.h>

#include "protocol/message.h"

/* The text must be what jansson would write. */
static inline json_t *series_json_of(const struct lab_buf *text)
{
	json_t *json = json_loadb(text->data, text->len, JSON_REJECT_DUPLICATES, NULL);
	char *again = json_dumps(json, JSON_COMPACT);

	assert_non_null(again);
	assert_string_equal(again, text->data);
	free(again);
	return json;
}

static inline json_t *series_json(int64_t t_ns, enum message_mark mark, const int64_t *deltas,
				  size_t n)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;

	message_series_text(t_ns, mark, deltas, n, &text);
	return series_json_of(&text);
}

#endif
