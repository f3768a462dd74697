/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_STORE_HASH_H
#define LAB_STORE_HASH_H

/* SHA-256, the hash of every key and content in a lab. */

#include <stddef.h>

#include "common/cleanup.h"
#include "common/err.h"

#define HASH_HEX 65 /* 64 lower-case hex digits and the zero byte */

struct hash;

struct hash *hash_new(void);
void hash_free(struct hash *h);
LAB_DEFINE_CLEANUP(hash, struct hash, hash_free)

void hash_add(struct hash *h, const void *data, size_t len);
/*
 * Adds a named value so that no two lists of fields give the same bytes: the
 * lengths of both go in front of them. A NULL value differs from an empty one.
 */
void hash_add_field(struct hash *h, const char *name, const char *value);
void hash_add_field_bytes(struct hash *h, const char *name, const void *value, size_t len);
/* Adds the bytes of a file as a field. */
int hash_add_field_file(struct hash *h, const char *name, const char *path,
			struct lab_error *err) LAB_MUST_CHECK;
/* Writes the digest of all that was added and starts over. */
void hash_hex(struct hash *h, char out[HASH_HEX]);

void hash_bytes(const void *data, size_t len, char out[HASH_HEX]);
int hash_file(const char *path, char out[HASH_HEX], struct lab_error *err) LAB_MUST_CHECK;
/*
 * Digest of a directory: relative names in byte order, types, execute bits, sizes,
 * contents, link targets. Times, owners and other mode bits do not count.
 * Anything but files, directories and links is an error.
 */
int hash_tree(const char *dir, char out[HASH_HEX], struct lab_error *err) LAB_MUST_CHECK;
/* The same of all but the entry of that name at the top; NULL: of all. */
int hash_tree_without(const char *dir, const char *name, char out[HASH_HEX],
		      struct lab_error *err) LAB_MUST_CHECK;

#endif
