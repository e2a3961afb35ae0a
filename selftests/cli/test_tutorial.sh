#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: the steps of the tutorial work with redis, and print what the page shows: lines of the
# same kinds and the same columns, with other numbers.

set -u -o pipefail
here=$(dirname "$(realpath "$0")")
. "${here%/cli}/lib/commands.sh"
. "${here%/cli}/lib/steps.sh"

servers=$build/servers
page=$here/../Documentation/tutorial.rst
if [ ! -d "$servers" ] || [ ! -e "$page" ]; then
	skip_all "it needs the checkout, and servers: selftests/qemu/fetch servers unpacks them"
fi

# One CPU, as on the page.
taskset -pc 0 $$ > /dev/null
mkdir bin
cat > bin/redis-server << END
#!/bin/sh
export LD_LIBRARY_PATH=$(echo "$servers"/usr/lib/*-linux-gnu)
exec $servers/usr/bin/redis-server "\$@"
END
chmod 755 bin/redis-server
PATH=$dir/bin:$PATH
cp "$here/../Documentation/examples/client.py" .

take_steps "$page"

# called PID NAME: is this the name of the task?
called()
{
	[ "$(cat "/proc/$1/comm" 2> /dev/null)" = "$2" ]
}

# began COMMAND: waits until a server, or a client, that runs in the background has begun
began()
{
	case $1 in
	redis-server*) eventually test -S /tmp/redis.sock ;;
	*) eventually called $! "$(awk '{ print $3 }' <<< "$1")" ;;
	esac
}

window=
for ((n = 1; ; n++)); do
	[ -e $n.command ] || break
	command=$(sed "s/--time [^ ]*/--time $window/" $n.command)
	case $command in
	*'&') eval "$command" > $n.out 2>&1 && began "$command" ;;
	*) try $n "$command" ;;
	esac
	report $? "$(cat $n.command)"
	# The page takes these times from "why", with 1 ms more on both sides.
	times=$(awk '/ did not run for / { printf "%.6f,%.6f", $9 - 0.001, $11 + 0.001 }' $n.out)
	window=${times:-$window}
done
[ $n -gt 10 ]
report $? "there are steps"
# shellcheck disable=SC2046 # PIDs
kill $(jobs -p)
wait
rm -f /tmp/redis.sock
finish
