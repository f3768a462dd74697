/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes of a guest, through the decoder into a record: what the host does with
 * everything that comes over a channel or stands in a frames file. The first byte
 * says into pieces of which length the rest is cut.
 *
 * clang -fsanitize=fuzzer,address,undefined ... builds the fuzzer (make fuzz);
 * tests/unit/test_protocol_fuzz.c runs the corpus.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "protocol/frame.h"
#include "protocol/job.h"
#include "protocol/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The host never reads a request, the agent does: its job is parsed here too. */
static void try_job(const json_t *msg)
{
	LAB_CLEANUP(job) struct job job = JOB_INIT;
	struct message m;
	json_t *again;

	if (message_read(msg, &m, NULL) < 0 || m.type != MESSAGE_REQUEST || !m.u.request.job ||
	    job_from_json(m.u.request.job, &job, NULL) < 0)
		return;
	if (job_to_json(&job, &again, NULL) < 0)
		abort(); /* what was accepted can be said again */
	json_decref(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	LAB_CLEANUP(frame_decoder) struct frame_decoder *decoder = frame_decoder_new();
	LAB_CLEANUP(record) struct record record = {.max_bytes = 4 << 20};
	size_t piece = size ? data[0] + 1u : 1;

	for (size_t pos = 1; pos < size; pos += piece) {
		size_t len = size - pos < piece ? size - pos : piece;
		json_t *msg;
		int rc;

		if (frame_decoder_feed(decoder, data + pos, len, NULL) < 0)
			return 0;
		while ((rc = frame_decoder_next(decoder, &msg, NULL)) > 0) {
			if (record_feed(&record, msg, NULL) < 0)
				try_job(msg);
			json_decref(msg);
			if (record.bytes > record.max_bytes)
				abort();
		}
	}
	return 0;
}
