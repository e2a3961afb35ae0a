/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef _SCHEDTAPE_VERSION_H
#define _SCHEDTAPE_VERSION_H

#define SCHEDTAPE_VERSION	"0.1.0"

#endif /* _SCHEDTAPE_VERSION_H */
