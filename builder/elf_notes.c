/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/elf_notes.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/mem.h"

enum { MAX_NOTES = 1 << 20, MAX_ID = 64 };

static int read_at(int fd, void *data, size_t len, uint64_t offset)
{
	return pread(fd, data, len, (off_t)offset) == (ssize_t)len ? 0 : -1;
}

static size_t align4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

/* Name and description are each padded to four bytes. Caller frees; NULL: not in here. */
static char *find_in_notes(const char *notes, size_t len)
{
	size_t at = 0;

	while (len - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr head;
		size_t name = at + sizeof(head), desc;

		memcpy(&head, notes + at, sizeof(head));
		if (head.n_namesz > len || head.n_descsz > len)
			return NULL;
		desc = name + align4(head.n_namesz);
		if (desc > len || head.n_descsz > len - desc)
			return NULL;
		if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == sizeof("GNU") &&
		    memcmp(notes + name, "GNU", sizeof("GNU")) == 0 && head.n_descsz <= MAX_ID) {
			struct lab_buf hex = LAB_BUF_INIT;

			for (size_t i = 0; i < head.n_descsz; i++)
				lab_buf_addf(&hex, "%02x", (unsigned char)notes[desc + i]);
			return lab_buf_take(&hex);
		}
		at = desc + align4(head.n_descsz);
		if (at > len)
			return NULL;
	}
	return NULL;
}

static char *find_in_segments(int fd, const Elf64_Ehdr *elf)
{
	for (unsigned i = 0; i < elf->e_phnum; i++) {
		Elf64_Phdr segment;
		LAB_CLEANUP(free) char *notes = NULL;
		char *id;

		if (read_at(fd, &segment, sizeof(segment),
			    elf->e_phoff + (uint64_t)i * sizeof(segment)) < 0)
			return NULL;
		if (segment.p_type != PT_NOTE || segment.p_filesz > MAX_NOTES)
			continue;
		notes = lab_calloc(1, segment.p_filesz);
		if (read_at(fd, notes, segment.p_filesz, segment.p_offset) < 0)
			return NULL;
		id = find_in_notes(notes, segment.p_filesz);
		if (id)
			return id;
	}
	return NULL;
}

int elf_build_id(const char *path, char **ret_hex, struct lab_error *err)
{
	LAB_CLEANUP(fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr elf;
	char *id;

	if (fd < 0)
		return lab_error_errno(err, errno, "%s", path);
	if (read_at(fd, &elf, sizeof(elf), 0) < 0 || memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 ||
	    elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_ident[EI_DATA] != ELFDATA2LSB ||
	    elf.e_phentsize != sizeof(Elf64_Phdr))
		return lab_error_set(err, LAB_ERR_INVALID, "%s is no 64 bit ELF file", path);
	id = find_in_segments(fd, &elf);
	if (!id)
		return lab_error_set(err, LAB_ERR_NOT_FOUND, "%s has no build id", path);
	*ret_hex = id;
	return 0;
}
