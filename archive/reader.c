/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "archive/reader.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <sys/stat.h>

#include "archive/path.h"
#include "common/mem.h"

enum { BLOCK_SIZE = 256 * 1024 };

/* Under this many unpacked bytes a high ratio is no bomb, just a well packed small thing. */
static const uint64_t RATIO_FROM = 64ULL << 20;

struct archive_data {
	struct archive *handle;
	struct archive_limits limits;
	const char *path; /* of the entry at hand */
	uint64_t entries;
	uint64_t promised;    /* sum of the sizes that headers told */
	uint64_t given;	      /* bytes handed out, all entries */
	uint64_t entry_given; /* of the entry at hand */
};

static void close_handle(struct archive *handle)
{
	if (handle)
		archive_read_free(handle);
}

LAB_DEFINE_CLEANUP(handle, struct archive, close_handle)

static int library_error(struct lab_error *err, struct archive *handle)
{
	const char *text = archive_error_string(handle);

	return lab_error_set(err, LAB_ERR_INVALID, "%s", text ? text : "not a readable archive");
}

static struct archive_limits with_defaults(const struct archive_limits *limits)
{
	struct archive_limits l = limits ? *limits : (struct archive_limits){0};

	l.max_entries = l.max_entries ? l.max_entries : 1000000;
	l.max_bytes = l.max_bytes ? l.max_bytes : 16ULL << 30;
	l.max_file_bytes = l.max_file_bytes ? l.max_file_bytes : 8ULL << 30;
	l.max_ratio = l.max_ratio ? l.max_ratio : 200;
	return l;
}

/* libarchive's *_all() would also take formats that start other programs; these do not. */
static int open_handle(const char *file, struct archive **ret_handle, struct lab_error *err)
{
	LAB_CLEANUP(handle) struct archive *handle = archive_read_new();

	if (!handle)
		return lab_error_errno(err, ENOMEM, "open archive");
	if (archive_read_support_filter_gzip(handle) != ARCHIVE_OK ||
	    archive_read_support_filter_bzip2(handle) != ARCHIVE_OK ||
	    archive_read_support_filter_xz(handle) != ARCHIVE_OK ||
	    archive_read_support_filter_zstd(handle) != ARCHIVE_OK ||
	    archive_read_support_format_tar(handle) != ARCHIVE_OK ||
	    archive_read_support_format_cpio(handle) != ARCHIVE_OK ||
	    archive_read_support_format_ar(handle) != ARCHIVE_OK ||
	    archive_read_open_filename(handle, file, BLOCK_SIZE) != ARCHIVE_OK)
		return library_error(err, handle);
	*ret_handle = LAB_TAKE(handle);
	return 0;
}

static int check_total(struct archive_data *data, struct lab_error *err)
{
	const struct archive_limits *l = &data->limits;
	uint64_t stream = (uint64_t)archive_filter_bytes(data->handle, 0);
	uint64_t packed = (uint64_t)archive_filter_bytes(data->handle, -1);
	uint64_t unpacked = data->given > stream ? data->given : stream;

	if (unpacked > l->max_bytes || data->promised > l->max_bytes)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "'%s': unpacks to more than %llu bytes (limit max_bytes)",
				     data->path, (unsigned long long)l->max_bytes);
	if (unpacked > RATIO_FROM && unpacked / l->max_ratio > packed)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "'%s': more than %llu bytes out of one (limit max_ratio)",
				     data->path, (unsigned long long)l->max_ratio);
	return 0;
}

static int check_entry(struct archive_data *data, const struct archive_entry_info *info,
		       struct lab_error *err)
{
	const struct archive_limits *l = &data->limits;

	if (++data->entries > l->max_entries)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "'%s': more than %llu entries (limit max_entries)", info->path,
				     (unsigned long long)l->max_entries);
	if (info->size > l->max_file_bytes)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "'%s': larger than %llu bytes (limit max_file_bytes)",
				     info->path, (unsigned long long)l->max_file_bytes);
	data->promised += info->size;
	return check_total(data, err);
}

ssize_t archive_data_read(struct archive_data *data, void *buf, size_t len, struct lab_error *err)
{
	ssize_t n = archive_read_data(data->handle, buf, len);

	if (n < 0)
		return library_error(err, data->handle);
	data->given += (uint64_t)n;
	data->entry_given += (uint64_t)n;
	if (data->entry_given > data->limits.max_file_bytes)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "larger than %llu bytes (limit max_file_bytes)",
				     (unsigned long long)data->limits.max_file_bytes);
	return check_total(data, err) < 0 ? -1 : n;
}

uint64_t archive_data_position(const struct archive_data *data)
{
	return (uint64_t)archive_filter_bytes(data->handle, -1);
}

static enum archive_type entry_type(struct archive_entry *entry)
{
	if (archive_entry_hardlink(entry) || archive_entry_hardlink_utf8(entry))
		return ARCHIVE_TYPE_HARDLINK;
	switch (archive_entry_filetype(entry)) {
	case AE_IFREG:
		return ARCHIVE_TYPE_FILE;
	case AE_IFDIR:
		return ARCHIVE_TYPE_DIR;
	case AE_IFLNK:
		return ARCHIVE_TYPE_SYMLINK;
	default:
		return ARCHIVE_TYPE_OTHER;
	}
}

/* Names that the locale cannot spell come as UTF-8. */
static const char *either(const char *text, const char *utf8)
{
	return text ? text : utf8;
}

static int describe(struct archive_entry *entry, struct archive_entry_info *info, char **ret_path,
		    struct lab_error *err)
{
	const char *path =
		either(archive_entry_pathname(entry), archive_entry_pathname_utf8(entry));

	if (!path)
		return lab_error_set(err, LAB_ERR_INVALID, "an entry has no readable name");
	if (archive_clean_path(path, false, ret_path, err) < 0)
		return -1;
	*info = (struct archive_entry_info){
		.path = *ret_path,
		.type = entry_type(entry),
		.mode = archive_entry_perm(entry) & 07777,
		.size = archive_entry_size(entry) > 0 ? (uint64_t)archive_entry_size(entry) : 0,
		.mtime = archive_entry_mtime(entry),
	};
	if (info->type == ARCHIVE_TYPE_HARDLINK)
		info->link =
			either(archive_entry_hardlink(entry), archive_entry_hardlink_utf8(entry));
	if (info->type == ARCHIVE_TYPE_SYMLINK)
		info->link =
			either(archive_entry_symlink(entry), archive_entry_symlink_utf8(entry));
	if (info->type == ARCHIVE_TYPE_SYMLINK && !info->link)
		return lab_error_set(err, LAB_ERR_INVALID, "'%s': a link without target",
				     *ret_path);
	return 0;
}

/* 1: an entry was handled, 0: the archive is at its end. */
static int one_entry(struct archive_data *data, archive_entry_fn *entry_fn, void *ctx,
		     struct lab_error *err)
{
	LAB_CLEANUP(free) char *path = NULL;
	struct archive_entry *entry;
	struct archive_entry_info info;
	int rc = archive_read_next_header(data->handle, &entry);

	if (rc == ARCHIVE_EOF)
		return 0;
	/* ARCHIVE_WARN: a name the locale cannot spell, or an attribute we do not use. */
	if (rc != ARCHIVE_OK && rc != ARCHIVE_WARN)
		return library_error(err, data->handle);
	if (describe(entry, &info, &path, err) < 0)
		return -1;
	data->path = info.path;
	data->entry_given = 0;
	if (check_entry(data, &info, err) < 0)
		return -1;
	if (entry_fn(ctx, &info, data, err) < 0)
		return lab_error_wrap(err, "'%s'", info.path);
	return 1;
}

int archive_read(const char *file, const struct archive_limits *limits, archive_entry_fn *entry,
		 void *ctx, struct lab_error *err)
{
	LAB_CLEANUP(handle) struct archive *handle = NULL;
	struct archive_data data = {.limits = with_defaults(limits)};
	struct stat st;
	int rc;

	if (stat(file, &st) < 0)
		return lab_error_errno(err, errno, "%s", file);
	if (open_handle(file, &handle, err) < 0)
		return lab_error_wrap(err, "%s", file);
	data.handle = handle;
	do {
		rc = one_entry(&data, entry, ctx, err);
	} while (rc > 0);
	if (rc < 0)
		return lab_error_wrap(err, "%s", file);
	return 0;
}
