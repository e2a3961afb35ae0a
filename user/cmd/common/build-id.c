// SPDX-License-Identifier: GPL-2.0-only
#include "common/build-id.h"

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NOTES_MAX	4096	/* bytes: more than linkers write */
#define HEADERS_MAX	64
#define PADDED(n)	(((n) + 3) & ~3UL)

/* Looks through the notes of one segment.  Notes of 64-bit files have the header of 32-bit ones. */
static bool find_note(const char *notes, size_t size, char id[BUILD_ID_LEN])
{
	Elf64_Nhdr note;
	size_t at = 0, name, text, i;

	while (at + sizeof(note) <= size) {
		memcpy(&note, notes + at, sizeof(note));
		name = at + sizeof(note);
		text = name + PADDED(note.n_namesz);
		if (note.n_namesz > size || note.n_descsz > size || text + note.n_descsz > size)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(notes + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU))) {
			if (!note.n_descsz || 2 * note.n_descsz >= BUILD_ID_LEN)
				return false;
			for (i = 0; i < note.n_descsz; i++)
				snprintf(id + 2 * i, 3, "%02x", (uint8_t)notes[text + i]);
			return true;
		}
		at = text + PADDED(note.n_descsz);
	}
	return false;
}

static bool read_id(int fd, char id[BUILD_ID_LEN])
{
	Elf64_Phdr headers[HEADERS_MAX];
	char notes[NOTES_MAX];
	Elf64_Ehdr file;
	ssize_t n;
	int i;

	if (pread(fd, &file, sizeof(file), 0) != sizeof(file) ||
	    memcmp(file.e_ident, ELFMAG, SELFMAG) || file.e_ident[EI_CLASS] != ELFCLASS64 ||
	    file.e_phentsize != sizeof(*headers) || file.e_phnum > HEADERS_MAX)
		return false;
	n = pread(fd, headers, file.e_phnum * sizeof(*headers), file.e_phoff);
	for (i = 0; n > 0 && i < (int)(n / sizeof(*headers)); i++) {
		ssize_t size;

		if (headers[i].p_type != PT_NOTE || headers[i].p_filesz > sizeof(notes))
			continue;
		size = pread(fd, notes, headers[i].p_filesz, headers[i].p_offset);
		if (size > 0 && find_note(notes, size, id))
			return true;
	}
	return false;
}

bool build_id_read(const char *path, char id[BUILD_ID_LEN])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool found = fd >= 0 && read_id(fd, id);

	if (fd >= 0)
		close(fd);
	return found;
}
