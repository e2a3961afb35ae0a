/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SCHEDTAPE_COPY_FILE_H
#define SCHEDTAPE_COPY_FILE_H

/*
 * Makes the folders above @to, with the owners and modes of those above @from, as far as both paths
 * end alike.  Returns 0 or -errno.
 */
int copy_file_folders(const char *from, const char *to);
/*
 * Copies a file, with its owner, mode and time, and makes the folders above the copy.  The copy
 * shares the file's blocks where the file system can do that, and has its holes.  Returns 0 or
 * -errno.
 */
int copy_file(const char *from, const char *to);

#endif /* SCHEDTAPE_COPY_FILE_H */
