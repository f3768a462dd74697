/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest-agent/elfnote.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static size_t align4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

bool elfnote_build_id(const void *notes, size_t len, char hex[ELFNOTE_HEX])
{
	const unsigned char *p = notes;

	while (len >= sizeof(Elf64_Nhdr)) {
		const unsigned char *name, *desc;
		Elf64_Nhdr head;
		size_t size;

		memcpy(&head, p, sizeof(head));
		if (head.n_namesz > len || head.n_descsz > len)
			return false;
		size = sizeof(head) + align4(head.n_namesz) + align4(head.n_descsz);
		/* The last note's padding may be cut off. */
		if (sizeof(head) + align4(head.n_namesz) + head.n_descsz > len)
			return false;
		name = p + sizeof(head);
		desc = name + align4(head.n_namesz);
		if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
		    memcmp(name, "GNU", 4) == 0 && head.n_descsz > 0 &&
		    head.n_descsz * 2 < ELFNOTE_HEX) {
			for (size_t i = 0; i < head.n_descsz; i++)
				snprintf(hex + 2 * i, 3, "%02x", desc[i]);
			return true;
		}
		if (size >= len)
			return false;
		p += size;
		len -= size;
	}
	return false;
}

static int look(struct dl_phdr_info *info, size_t size, void *hex)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		/* An address of the program itself, which the linker laid out. */
		if (ph->p_type == PT_NOTE &&
		    elfnote_build_id((const void *)(info->dlpi_addr + ph->p_vaddr), ph->p_memsz,
				     hex))
			return 1;
	}
	return -1; /* the first object is the program; libraries are not asked */
}

bool elfnote_own_build_id(char hex[ELFNOTE_HEX])
{
	return dl_iterate_phdr(look, hex) == 1;
}
