# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # top is of lib.sh
# programs.sh - which guest runs which program.  Sourced, after qemu/lib.sh.

programs=$top/selftests/suite/programs

# programs_of GUEST: prints the programs that the table gives to GUEST, in its order
programs_of()
{
	awk -v guest="$1" '!/^#/ { for (i = 2; i <= NF; i++) if ($i == guest) print $1 }' "$programs"
}

# all_programs: prints the programs of the module's and the commands' tests
all_programs()
{
	(cd "$top/selftests" && printf '%s\n' module/*/test_*.[cs]* cli/{,*/}test_*.sh) |
	sed 's,.*/,,; s/\.c$//' | LC_ALL=C sort
}

# Lines "DAY COMMIT GUEST: PROGRAM: FIRST FAILURE", see note-unstable.
unstable_programs=$top/selftests/unstable

# often_unstable: prints the gate's programs that failed, and then passed alone, three times
often_unstable()
{
	[ ! -e "$unstable_programs" ] ||
		sed -nE 's/^[^#:][^:]*: ([^:]*):.*/\1/p' "$unstable_programs" | sort | uniq -c |
		awk '$1 >= 3 { print $2 }' | grep -xF -f <(programs_of two)
}

# check_table: fails if the table and the programs are not the same, or a program has to leave the
# gate
check_table()
{
	local differences often

	often=$(often_unstable)
	[ -z "$often" ] || { echo "$programs: three times in $unstable_programs: $often"; return 1; }
	differences=$(diff <(all_programs) <(sed '/^#/d; s/[[:space:]].*//' "$programs" |
		LC_ALL=C sort) | sed -n 's/^</in no line:/p; s/^>/no program:/p')
	[ -z "$differences" ] || { echo "$programs: $differences"; return 1; }
}

# one_cpu: prints those that the table gives to a guest with one CPU
one_cpu()
{
	{ programs_of 6.1; programs_of 7.3; } | sort -u
}
