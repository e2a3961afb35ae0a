// SPDX-License-Identifier: GPL-2.0-only
/*
 * The program of players, as data.  The assembler finds it in the folder that the Makefiles name
 * with -Wa,-I.
 */
#include "replay/internal.h"

__asm__(".pushsection .rodata\n"
	".globl player_program, player_program_end\n"
	"player_program:\n"
	".incbin \"schedtape-player\"\n"
	"player_program_end:\n"
	".popsection\n");
