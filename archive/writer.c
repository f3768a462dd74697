/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "archive/writer.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "archive/path.h"
#include "common/file.h"
#include "common/mem.h"

struct item {
	char *path;
	mode_t mode; /* with its type */
	char *src;   /* regular file: where its content is, unless data */
	void *data;
	size_t len;
	char *target; /* symbolic link */
	unsigned major, minor;
	bool implied; /* a parent nobody named */
};

struct archive_writer {
	char *path;
	char *tmp;
	enum archive_format format;
	int64_t mtime;
	struct item *items;
	size_t n, cap;
};

static void item_release(struct item *item)
{
	free(item->path);
	free(item->src);
	free(item->data);
	free(item->target);
}

int archive_writer_new(const char *path, enum archive_format format,
		       struct archive_writer **ret_writer, struct lab_error *err)
{
	LAB_CLEANUP(archive_writer) struct archive_writer *writer = LAB_NEW(struct archive_writer);
	LAB_CLEANUP(fd) int fd = -1;

	writer->path = lab_strdup(path);
	writer->tmp = lab_asprintf("%s.tmp.%d", path, (int)getpid());
	writer->format = format;
	fd = open(writer->tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return lab_error_errno(err, errno, "create %s", writer->tmp);
	*ret_writer = LAB_TAKE(writer);
	return 0;
}

void archive_writer_set_mtime(struct archive_writer *writer, int64_t mtime)
{
	writer->mtime = mtime;
}

void archive_writer_free(struct archive_writer *writer)
{
	if (!writer)
		return;
	if (writer->tmp)
		unlink(writer->tmp);
	for (size_t i = 0; i < writer->n; i++)
		item_release(&writer->items[i]);
	free(writer->items);
	free(writer->path);
	free(writer->tmp);
	free(writer);
}

/* A new item of that path and mode, to be filled by the caller; NULL with err. */
static struct item *add_item(struct archive_writer *writer, const char *path, mode_t mode,
			     struct lab_error *err)
{
	char *clean;

	if (archive_clean_path(path, true, &clean, err) < 0)
		return NULL;
	LAB_GROW(writer->items, writer->n, writer->cap);
	writer->items[writer->n] = (struct item){.path = clean, .mode = mode};
	return &writer->items[writer->n++];
}

int archive_writer_add_data(struct archive_writer *writer, const char *path, mode_t mode,
			    const void *data, size_t len, struct lab_error *err)
{
	struct item *item = add_item(writer, path, S_IFREG | (mode & 07777), err);

	if (!item)
		return -1;
	item->data = lab_memdup(data, len);
	item->len = len;
	return 0;
}

int archive_writer_add_file(struct archive_writer *writer, const char *path, mode_t mode,
			    const char *src, struct lab_error *err)
{
	struct item *item;
	struct stat st;

	if (stat(src, &st) < 0)
		return lab_error_errno(err, errno, "%s", src);
	if (!S_ISREG(st.st_mode))
		return lab_error_set(err, LAB_ERR_INVALID, "%s is not a regular file", src);
	item = add_item(writer, path, S_IFREG | (mode & 07777), err);
	if (!item)
		return -1;
	item->src = lab_strdup(src);
	return 0;
}

int archive_writer_add_dir(struct archive_writer *writer, const char *path, mode_t mode,
			   struct lab_error *err)
{
	return add_item(writer, path, S_IFDIR | (mode & 07777), err) ? 0 : -1;
}

int archive_writer_add_link(struct archive_writer *writer, const char *path, const char *target,
			    struct lab_error *err)
{
	struct item *item = add_item(writer, path, S_IFLNK | 0777, err);

	if (!item)
		return -1;
	item->target = lab_strdup(target);
	return 0;
}

int archive_writer_add_node(struct archive_writer *writer, const char *path, mode_t mode,
			    unsigned major, unsigned minor, struct lab_error *err)
{
	struct item *item;

	if (!S_ISCHR(mode) && !S_ISBLK(mode) && !S_ISFIFO(mode))
		return lab_error_set(err, LAB_ERR_INVALID, "'%s': mode %o is no device's", path,
				     (unsigned)mode);
	item = add_item(writer, path, mode, err);
	if (!item)
		return -1;
	item->major = major;
	item->minor = minor;
	return 0;
}

static int add_link_of(struct archive_writer *writer, const char *name, const char *path,
		       struct lab_error *err)
{
	char target[4096];
	ssize_t n = readlink(path, target, sizeof(target) - 1);

	if (n < 0)
		return lab_error_errno(err, errno, "%s", path);
	target[n] = '\0';
	return archive_writer_add_link(writer, name, target, err);
}

static int add_found(struct archive_writer *writer, const char *name, const char *path,
		     struct lab_error *err)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return lab_error_errno(err, errno, "%s", path);
	if (S_ISREG(st.st_mode))
		return archive_writer_add_file(writer, name, st.st_mode, path, err);
	if (S_ISLNK(st.st_mode))
		return add_link_of(writer, name, path, err);
	if (!S_ISDIR(st.st_mode))
		return lab_error_set(err, LAB_ERR_INVALID, "%s: a device, fifo or socket", path);
	if (archive_writer_add_dir(writer, name, st.st_mode, err) < 0)
		return -1;
	return archive_writer_add_tree(writer, name, path, err);
}

int archive_writer_add_tree(struct archive_writer *writer, const char *prefix, const char *dir,
			    struct lab_error *err)
{
	LAB_CLEANUP(dir) DIR *d = opendir(dir);
	struct dirent *entry;

	if (!d)
		return lab_error_errno(err, errno, "%s", dir);
	while (errno = 0, (entry = readdir(d))) {
		LAB_CLEANUP(free) char *name = NULL;
		LAB_CLEANUP(free) char *path = NULL;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		name = *prefix ? lab_path_join(prefix, entry->d_name) : lab_strdup(entry->d_name);
		path = lab_path_join(dir, entry->d_name);
		if (add_found(writer, name, path, err) < 0)
			return -1;
	}
	if (errno)
		return lab_error_errno(err, errno, "read %s", dir);
	return 0;
}

/* Named directories sort before implied ones of the same path, so that theirs is the mode kept. */
static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int c = strcmp(x->path, y->path);

	return c ? c : (int)x->implied - (int)y->implied;
}

static int compare_path(const void *key, const void *item)
{
	return strcmp(key, ((const struct item *)item)->path);
}

/* Adds the parents nobody named; the items must be sorted and are not afterwards. */
static int add_parents(struct archive_writer *writer, struct lab_error *err)
{
	size_t named = writer->n;

	for (size_t i = 0; i < named; i++) {
		LAB_CLEANUP(free) char *path = lab_strdup(writer->items[i].path);

		for (char *slash = strrchr(path, '/'); slash; slash = strrchr(path, '/')) {
			const struct item *parent;

			*slash = '\0';
			parent = bsearch(path, writer->items, named, sizeof(*parent), compare_path);
			if (parent && !S_ISDIR(parent->mode))
				return lab_error_set(err, LAB_ERR_INVALID,
						     "'%s' is no directory, but '%s' is in it",
						     path, writer->items[i].path);
			if (parent)
				break;
			add_item(writer, path, S_IFDIR | 0755, NULL)->implied = true;
		}
	}
	return 0;
}

static int sort_items(struct archive_writer *writer, struct lab_error *err)
{
	size_t kept = 0;

	if (!writer->n)
		return 0;
	qsort(writer->items, writer->n, sizeof(*writer->items), compare_items);
	if (add_parents(writer, err) < 0)
		return -1;
	qsort(writer->items, writer->n, sizeof(*writer->items), compare_items);
	for (size_t i = 0; i < writer->n; i++) {
		struct item *last = kept ? &writer->items[kept - 1] : NULL;
		struct item *item = &writer->items[i];

		if (!last || strcmp(last->path, item->path) != 0) {
			writer->items[kept++] = *item;
			continue;
		}
		if (!S_ISDIR(last->mode) || !S_ISDIR(item->mode)) {
			lab_error_set(err, LAB_ERR_INVALID, "'%s' was added twice", item->path);
			/* What follows stays owned by the array, without the gap. */
			memmove(writer->items + kept, item, (writer->n - i) * sizeof(*item));
			writer->n -= i - kept;
			return -1;
		}
		item_release(item);
	}
	writer->n = kept;
	return 0;
}

static void close_handle(struct archive *handle)
{
	if (handle)
		archive_write_free(handle);
}

static void free_entry(struct archive_entry *entry)
{
	if (entry)
		archive_entry_free(entry);
}

LAB_DEFINE_CLEANUP(handle, struct archive, close_handle)
LAB_DEFINE_CLEANUP(entry, struct archive_entry, free_entry)

static int library_error(struct lab_error *err, struct archive *handle)
{
	const char *text = archive_error_string(handle);

	return lab_error_set(err, LAB_ERR_FAILED, "%s", text ? text : "cannot be written");
}

/*
 * GNU tar rather than pax: it takes any bytes as a name, whatever the locale, and writes
 * nothing that we did not set.
 */
static int open_handle(const struct archive_writer *writer, struct archive **ret_handle,
		       struct lab_error *err)
{
	LAB_CLEANUP(handle) struct archive *handle = archive_write_new();
	int rc;

	if (!handle)
		return lab_error_errno(err, ENOMEM, "open archive");
	if (writer->format == ARCHIVE_CPIO_NEWC) {
		rc = archive_write_set_format_cpio_newc(handle);
	} else {
		rc = archive_write_set_format_gnutar(handle);
		if (rc == ARCHIVE_OK)
			rc = archive_write_add_filter_zstd(handle);
		if (rc == ARCHIVE_OK)
			rc = archive_write_set_filter_option(handle, "zstd", "compression-level",
							     "3");
	}
	if (rc == ARCHIVE_OK)
		rc = archive_write_set_bytes_in_last_block(handle, 1);
	if (rc == ARCHIVE_OK)
		rc = archive_write_open_filename(handle, writer->tmp);
	if (rc != ARCHIVE_OK)
		return library_error(err, handle);
	*ret_handle = LAB_TAKE(handle);
	return 0;
}

static int write_content(struct archive *handle, const void *data, size_t len,
			 struct lab_error *err)
{
	const char *p = data;

	while (len) {
		la_ssize_t n = archive_write_data(handle, p, len);

		if (n <= 0)
			return library_error(err, handle);
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

static int write_file(struct archive *handle, int fd, uint64_t left, struct lab_error *err)
{
	LAB_CLEANUP(free) char *chunk = lab_calloc(1, 1 << 17);

	while (left) {
		size_t want = left < 1 << 17 ? (size_t)left : 1 << 17;
		ssize_t n = read(fd, chunk, want);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return lab_error_errno(err, errno, "read");
		if (n == 0)
			return lab_error_set(err, LAB_ERR_FAILED, "got shorter while being packed");
		if (write_content(handle, chunk, (size_t)n, err) < 0)
			return -1;
		left -= (uint64_t)n;
	}
	return 0;
}

static int write_item(const struct archive_writer *writer, struct archive *handle,
		      const struct item *item, size_t number, struct lab_error *err)
{
	LAB_CLEANUP(entry) struct archive_entry *entry = archive_entry_new();
	LAB_CLEANUP(fd) int fd = -1;
	struct stat st = {.st_size = (off_t)item->len};

	if (!entry)
		return lab_error_errno(err, ENOMEM, "archive entry");
	if (item->src) {
		fd = open(item->src, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || fstat(fd, &st) < 0)
			return lab_error_errno(err, errno, "%s", item->src);
	}
	archive_entry_set_pathname(entry, item->path);
	archive_entry_set_mode(entry, item->mode);
	archive_entry_set_mtime(entry, writer->mtime, 0);
	archive_entry_set_ino64(entry, (la_int64_t)number);
	archive_entry_set_nlink(entry, S_ISDIR(item->mode) ? 2 : 1);
	archive_entry_set_rdevmajor(entry, item->major);
	archive_entry_set_rdevminor(entry, item->minor);
	archive_entry_set_size(entry, S_ISREG(item->mode) ? st.st_size : 0);
	if (item->target)
		archive_entry_set_symlink(entry, item->target);
	if (archive_write_header(handle, entry) != ARCHIVE_OK)
		return library_error(err, handle);
	if (!S_ISREG(item->mode))
		return 0;
	if (item->src)
		return write_file(handle, fd, (uint64_t)st.st_size, err);
	return write_content(handle, item->data, item->len, err);
}

static int write_items(const struct archive_writer *writer, struct lab_error *err)
{
	LAB_CLEANUP(handle) struct archive *handle = NULL;

	if (open_handle(writer, &handle, err) < 0)
		return -1;
	for (size_t i = 0; i < writer->n; i++) {
		if (write_item(writer, handle, &writer->items[i], i + 1, err) < 0)
			return lab_error_wrap(err, "'%s'", writer->items[i].path);
	}
	if (archive_write_close(handle) != ARCHIVE_OK)
		return library_error(err, handle);
	return 0;
}

int archive_writer_close(struct archive_writer *writer, struct lab_error *err)
{
	LAB_CLEANUP(fd) int fd = -1;

	if (sort_items(writer, err) < 0 || write_items(writer, err) < 0)
		return lab_error_wrap(err, "%s", writer->path);
	fd = open(writer->tmp, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fsync(fd) < 0 || rename(writer->tmp, writer->path) < 0)
		return lab_error_errno(err, errno, "write %s", writer->path);
	return 0;
}
