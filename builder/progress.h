/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_BUILDER_PROGRESS_H
#define LAB_BUILDER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How the builder talks while it works. Every callback may be NULL. They are called
 * from the caller's thread; `work`, `fetch` and `objects` may come many times a second
 * and the receiver limits its own rate.
 */
struct build_progress {
	void *ctx;
	/*
	 * A fact worth a line, once known: word "source", "reading", "fetched", "imported",
	 * "base", "config" or "A"/"B", and its text ("v5.14 (nearest tag under the change)").
	 */
	void (*say)(void *ctx, const char *word, const char *text);
	/* Objects of a fetch; total is 0 before it is known. */
	void (*fetch)(void *ctx, unsigned received, unsigned total, uint64_t bytes);
	/*
	 * Other countable work: what is "import" (bytes of the tarball), "checkout" (files),
	 * total 0 when unknown; item is the file at hand or NULL.
	 */
	void (*work)(void *ctx, const char *what, uint64_t done, uint64_t total, const char *item);
	/* Compiler steps of arm "A" or "B"; expected is 0 before one such build is known. */
	void (*objects)(void *ctx, const char *arm, unsigned done, unsigned expected,
			const char *file);
	/* True asks for the end: LAB_ERR_CANCELLED, and the same command goes on later. */
	bool (*cancelled)(void *ctx);
};

#endif
