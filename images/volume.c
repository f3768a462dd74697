/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/volume.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/proc.h"
#include "common/strv.h"

enum { TOOL_TIMEOUT_MS = 120000, PAGE = 4096, UUID_BYTES = 16 };

/* Any fixed one will do: it only seeds the hash of directory entries. */
#define HASH_SEED "6c616263-746c-4000-8000-000000000003"
/* 2023-01-01, in every time stamp of an empty file system. */
#define FS_TIME "1672531200"
/*
 * What mke2fs 1.47 makes by default for ext4, without the two that came last and
 * that older kernels do not mount (metadata_csum_seed) or know (orphan_file).
 */
#define FEATURES                                                                          \
	"none,has_journal,ext_attr,resize_inode,dir_index,filetype,extent,64bit,flex_bg," \
	"sparse_super,large_file,huge_file,dir_nlink,extra_isize,metadata_csum"

/* An environment of our own: nothing of the user's, no mke2fs.conf of the host. */
static const char *const tool_env[] = {
	"PATH=/usr/sbin:/usr/bin:/sbin:/bin",
	"LC_ALL=C",
	"MKE2FS_CONFIG=/dev/null",
	"E2FSPROGS_FAKE_TIME=" FS_TIME,
	"SOURCE_DATE_EPOCH=" FS_TIME,
	NULL,
};

int volume_blank(const char *path, uint64_t bytes, struct lab_error *err)
{
	LAB_CLEANUP(fd) int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0)
		return lab_error_errno(err, errno, "create volume %s", path);
	if (bytes > INT64_MAX || ftruncate(fd, (off_t)bytes) < 0) {
		int errnum = bytes > INT64_MAX ? EFBIG : errno;

		unlink(path);
		return lab_error_errno(err, errnum, "volume %s of %llu bytes", path,
				       (unsigned long long)bytes);
	}
	return 0;
}

static int run_tool(struct lab_strv *argv, struct lab_error *err)
{
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};
	const struct lab_proc proc = {.argv = (const char *const *)argv->items,
				      .env = tool_env,
				      .timeout_ms = TOOL_TIMEOUT_MS};

	return lab_proc_must(&proc, &result, err);
}

int volume_overlay(const char *base, const char *path, struct lab_error *err)
{
	LAB_CLEANUP(free) char *absolute = realpath(base, NULL);
	LAB_CLEANUP(strv) struct lab_strv argv = LAB_STRV_INIT;

	if (!absolute)
		return lab_error_errno(err, errno, "overlay of %s", base);
	if (access(path, F_OK) == 0)
		return lab_error_errno(err, EEXIST, "overlay %s", path);
	lab_strv_add_all(&argv, (const char *const[]){"qemu-img", "create", "-q", "-f", "qcow2",
						      "-F", "raw", "-b", NULL});
	lab_strv_add(&argv, absolute);
	/* A name with a colon in front of its first slash would be taken for a protocol. */
	lab_strv_addf(&argv, "%s%s", path[0] == '/' ? "" : "./", path);
	if (run_tool(&argv, err) == 0)
		return 0;
	unlink(path);
	return lab_error_wrap(err, "overlay of %s", base);
}

int volume_copy(const char *base, const char *path, struct lab_error *err)
{
	if (access(path, F_OK) == 0)
		return lab_error_errno(err, EEXIST, "volume %s", path);
	if (lab_copy_sparse(base, path, 0644, err) == 0)
		return 0;
	unlink(path);
	return lab_error_wrap(err, "copy of %s", base);
}

int volume_ext4(const char *path, uint64_t bytes, const char *label, const char *uuid,
		struct lab_error *err)
{
	LAB_CLEANUP(strv) struct lab_strv argv = LAB_STRV_INIT;

	if (bytes % PAGE)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "volume %s: %llu bytes are not a multiple of %d", path,
				     (unsigned long long)bytes, PAGE);
	if (label && strlen(label) > 16)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "volume %s: label '%s' is longer than 16 characters", path,
				     label);
	if (volume_blank(path, bytes, err) < 0)
		return -1;
	lab_strv_add_all(&argv,
			 (const char *const[]){"mke2fs", "-q", "-F", "-b", "4096", "-I", "256",
					       "-i", "16384", "-m", "0", "-O", FEATURES, NULL});
	/*
	 * The file is all zeros already. lazy_itable_init=0 marks the inode tables as done, so that
	 * no thread of the guest does them during a run; "lazy" for the journal only means
	 * that its zeros are not written once more, which would fill the sparse file.
	 */
	lab_strv_add_all(&argv, (const char *const[]){"-E",
						      "hash_seed=" HASH_SEED ",root_owner=0:0,"
						      "lazy_itable_init=0,lazy_journal_init=1",
						      "-U", uuid ? uuid : VOLUME_EXT4_UUID, NULL});
	if (label)
		lab_strv_add_all(&argv, (const char *const[]){"-L", label, NULL});
	lab_strv_add_all(&argv, (const char *const[]){"--", path, NULL});
	if (run_tool(&argv, err) == 0)
		return 0;
	unlink(path);
	return lab_error_wrap(err, "volume %s", path);
}

static int parse_uuid(const char *text, unsigned char out[UUID_BYTES])
{
	static const char layout[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
	static const char digits[] = "0123456789abcdef";
	size_t n = 0;

	if (strlen(text) != sizeof(layout) - 1)
		return -1;
	for (size_t i = 0; text[i]; i++) {
		const char *digit = strchr(digits, text[i]);

		if (layout[i] == '-') {
			if (text[i] != '-')
				return -1;
			continue;
		}
		if (!digit)
			return -1;
		out[n / 2] = (unsigned char)(out[n / 2] << 4 | (digit - digits));
		n++;
	}
	return 0;
}

static void put_le32(unsigned char *p, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		p[i] = (unsigned char)(value >> (8 * i));
}

/*
 * The header that mkswap writes (include/linux/swap.h, union swap_header, version 1):
 * at 1024 the version, the last page, the number of bad ones, UUID and label; the magic
 * at the end of the first page.
 */
int volume_swap(const char *path, uint64_t bytes, const char *uuid, struct lab_error *err)
{
	unsigned char page[PAGE] = {0};
	uint64_t pages = bytes / PAGE;
	LAB_CLEANUP(fd) int fd = -1;

	if (bytes % PAGE || pages < 10 || pages > UINT32_MAX)
		return lab_error_set(
			err, LAB_ERR_INVALID,
			"swap volume %s cannot have %llu bytes: pages of %d, at least 10", path,
			(unsigned long long)bytes, PAGE);
	put_le32(page + 1024, 1);
	put_le32(page + 1028, (uint32_t)(pages - 1));
	if (parse_uuid(uuid ? uuid : VOLUME_SWAP_UUID, page + 1036) < 0)
		return lab_error_set(err, LAB_ERR_INVALID, "swap volume %s: '%s' is no UUID", path,
				     uuid);
	memcpy(page + PAGE - 10, "SWAPSPACE2", 10);
	if (volume_blank(path, bytes, err) < 0)
		return -1;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || pwrite(fd, page, PAGE, 0) != PAGE) {
		int errnum = errno;

		unlink(path);
		return lab_error_errno(err, errnum, "write swap volume %s", path);
	}
	return 0;
}

int volume_mke2fs_version(char **ret_version, struct lab_error *err)
{
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};
	const struct lab_proc proc = {.argv = (const char *const[]){"mke2fs", "-V", NULL},
				      .env = tool_env,
				      .timeout_ms = TOOL_TIMEOUT_MS};
	const char *text;

	if (lab_proc_must(&proc, &result, err) < 0)
		return -1;
	/* "mke2fs 1.47.0 (5-Feb-2023)", on standard error */
	text = result.err.data ? strchr(result.err.data, ' ') : NULL;
	if (!text)
		return lab_error_set(err, LAB_ERR_FAILED, "mke2fs does not say its version");
	*ret_version = lab_strndup(text + 1, strcspn(text + 1, " \n"));
	return 0;
}
