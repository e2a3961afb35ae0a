#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: what replays keep, scale, choose and leave out when told to.

set -u
. "$(dirname "$(realpath "$0")")/lib/commands.sh"

exact=${SCHEDTAPE_EXACT:-}

# record NAME COMMAND...: to NAME.tape
record()
{
	schedtape record -q -o "$1.tape" -- "${@:2}" > log 2>&1
}

# replay NAME OPTION...: NAME.tape, recorded again to NAME.replay
replay()
{
	schedtape replay -q --record "$1.replay" "${@:2}" "$1.tape" > log 2>&1
}

# d_sleeps TAPE: sleeps in state D
d_sleeps()
{
	schedtape script "$1" | grep -c 'switch: .*\[D\] ==>'
}

expect 129 "external maybe: absolute, relative or auto" schedtape replay --external maybe

# It waits in state D for files, and for children until they have executed something.
cat > spawner.py << 'END'
import os
for i in range(5):
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
END
record spawner /usr/bin/python3 spawner.py
for how in auto absolute relative; do
	replay spawner --external $how
	report $? "--external $how: replayed"
done
recorded=$(d_sleeps spawner.tape) replayed=$(d_sleeps spawner.replay)
echo "$recorded sleeps in state D recorded, $replayed replayed" > log
# Where CPUs stall, who is late for a wait finds that it is over.
[ "$recorded" -gt 0 ] && [ "$replayed" -le "$recorded" ] &&
	[ "$replayed" -ge $((exact ? recorded : recorded / 2)) ]
report $? "sleeps in state D are such in the replay"

finish
