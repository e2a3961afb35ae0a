#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: with a module of another version, as after an upgrade, one line says which of module
# and program is older, and which command helps. SCHEDTAPE_WIRE says which module this is: older
# or newer than the program.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli}/lib/commands.sh"

case ${SCHEDTAPE_WIRE-} in
older) why="module is older than this program: .*sudo modprobe -r schedtape" ;;
newer) why="this program is older than the loaded module: .*sudo apt install schedtape" ;;
*)
	schedtape status > log 2>&1 && ! grep -q "older than" log
	report $? "module and program are of the same version"
	finish
	exit
	;;
esac

# No module is needed to make this tape.
tapes=$build/selftests/tapes
[ -d "$tapes" ] || tapes=$here
"$tapes/ext_tape" one.tape 2> log
expect 1 "$why" schedtape record -o out.tape -- true
[ ! -s out.tape ]
report $? "nothing is recorded"
# The tasks of this tape have SCHED_EXT, of which a kernel without it would warn.
expect 1 "$why" schedtape replay --no-attributes one.tape
schedtape status > log 2>&1 && grep -qE "can record.*: no: .*$why" log
report $? "status says so"

finish
