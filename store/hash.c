/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <nettle/sha2.h>

#include "common/mem.h"
#include "store/tree.h"

#define CHUNK ((size_t)1 << 18)

struct hash {
	struct sha256_ctx ctx;
};

struct hash *hash_new(void)
{
	struct hash *h = LAB_NEW(struct hash);

	sha256_init(&h->ctx);
	return h;
}

void hash_free(struct hash *h)
{
	free(h);
}

void hash_add(struct hash *h, const void *data, size_t len)
{
	if (len)
		sha256_update(&h->ctx, len, data);
}

static void add_length(struct hash *h, uint64_t len)
{
	unsigned char bytes[8];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(len >> (8 * i));
	hash_add(h, bytes, sizeof(bytes));
}

/* length of name, name, 'v' and length of value, value; or 'n' for no value at all. */
static void add_head(struct hash *h, const char *name, bool present, uint64_t len)
{
	size_t name_len = strlen(name);

	add_length(h, name_len);
	hash_add(h, name, name_len);
	hash_add(h, present ? "v" : "n", 1);
	if (present)
		add_length(h, len);
}

void hash_add_field_bytes(struct hash *h, const char *name, const void *value, size_t len)
{
	add_head(h, name, value != NULL, len);
	if (value)
		hash_add(h, value, len);
}

void hash_add_field(struct hash *h, const char *name, const char *value)
{
	hash_add_field_bytes(h, name, value, value ? strlen(value) : 0);
}

/* Adds what fd yields to its end; tells how much that was. */
static int add_fd(struct hash *h, int fd, const char *path, uint64_t *ret_len,
		  struct lab_error *err)
{
	LAB_CLEANUP(free) char *chunk = lab_calloc(CHUNK, 1);
	uint64_t len = 0;

	for (;;) {
		ssize_t n = read(fd, chunk, CHUNK);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return lab_error_errno(err, errno, "read %s", path);
		if (n == 0)
			break;
		hash_add(h, chunk, (size_t)n);
		len += (uint64_t)n;
	}
	*ret_len = len;
	return 0;
}

static int open_file(const char *path, int *ret_fd, struct stat *st, struct lab_error *err)
{
	LAB_CLEANUP(fd) int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, st) < 0)
		return lab_error_errno(err, errno, "%s", path);
	*ret_fd = lab_take_fd(&fd);
	return 0;
}

int hash_add_field_file(struct hash *h, const char *name, const char *path, struct lab_error *err)
{
	LAB_CLEANUP(fd) int fd = -1;
	struct stat st;
	uint64_t len;

	if (open_file(path, &fd, &st, err) < 0)
		return -1;
	if (!S_ISREG(st.st_mode))
		return lab_error_set(err, LAB_ERR_INVALID, "%s is no file", path);
	add_head(h, name, true, (uint64_t)st.st_size);
	if (add_fd(h, fd, path, &len, err) < 0)
		return -1;
	/* The length that went in front would be a lie. */
	if (len != (uint64_t)st.st_size)
		return lab_error_set(err, LAB_ERR_FAILED, "%s changed while it was read", path);
	return 0;
}

void hash_hex(struct hash *h, char out[HASH_HEX])
{
	uint8_t digest[SHA256_DIGEST_SIZE];

	/* This also starts the context over. */
	sha256_digest(&h->ctx, sizeof(digest), digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

void hash_bytes(const void *data, size_t len, char out[HASH_HEX])
{
	struct hash h;

	sha256_init(&h.ctx);
	hash_add(&h, data, len);
	hash_hex(&h, out);
}

int hash_file(const char *path, char out[HASH_HEX], struct lab_error *err)
{
	LAB_CLEANUP(fd) int fd = -1;
	struct stat st;
	struct hash h;
	uint64_t len;

	if (open_file(path, &fd, &st, err) < 0)
		return -1;
	sha256_init(&h.ctx);
	if (add_fd(&h, fd, path, &len, err) < 0)
		return -1;
	hash_hex(&h, out);
	return 0;
}

static int add_link(struct hash *h, const char *path, const char *name, struct lab_error *err)
{
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target));

	if (n < 0)
		return lab_error_errno(err, errno, "%s", path);
	if ((size_t)n == sizeof(target))
		return lab_error_errno(err, ENAMETOOLONG, "%s", path);
	hash_add_field(h, "link", name);
	hash_add_field_bytes(h, "target", target, (size_t)n);
	return 0;
}

/* A tree on its way into a hash. */
struct tree_hash {
	struct hash *hash;
	const char *without; /* or NULL */
};

static int add_entry(void *ctx, const char *path, const char *name, const struct stat *st,
		     struct lab_error *err)
{
	const struct tree_hash *tree = ctx;
	struct hash *h = tree->hash;

	if (tree->without && strcmp(name, tree->without) == 0)
		return 0;
	if (S_ISDIR(st->st_mode)) {
		hash_add_field(h, "directory", name);
		return 0;
	}
	if (S_ISLNK(st->st_mode))
		return add_link(h, path, name, err);
	if (!S_ISREG(st->st_mode))
		return lab_error_set(err, LAB_ERR_INVALID, "%s is neither file, directory nor link",
				     path);
	hash_add_field(h, st->st_mode & S_IXUSR ? "program" : "file", name);
	return hash_add_field_file(h, "content", path, err);
}

int hash_tree_without(const char *dir, const char *name, char out[HASH_HEX], struct lab_error *err)
{
	LAB_CLEANUP(hash) struct hash *h = hash_new();
	struct tree_hash tree = {h, name};

	if (tree_walk(dir, add_entry, &tree, err) < 0)
		return -1;
	hash_hex(h, out);
	return 0;
}

int hash_tree(const char *dir, char out[HASH_HEX], struct lab_error *err)
{
	return hash_tree_without(dir, NULL, out, err);
}
