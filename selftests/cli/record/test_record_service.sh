#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: the unit schedtape@.service, by a systemd in a PID namespace of its own: the recorder
# starts with all of the unit's restrictions, is started again after it was killed, and ends.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/record}/lib/commands.sh"
unit=${here%/selftests}/user/systemd/schedtape@.service.in
[ -f "$unit" ] || unit=/usr/lib/systemd/system/schedtape@.service
systemd=/usr/lib/systemd/systemd
units=/etc/systemd/system
if [ ! -x $systemd ] || [ ! -f "$unit" ]; then
	skip_all "no systemd, or no unit"
fi

# -- a small system --------------------------------------------------------------------

mkdir -p $units/schedtape@.service.d /etc/schedtape
sed "s,^ExecStart=[^ ]*,ExecStart=$(command -v schedtape)," "$unit" > \
	$units/schedtape@.service
# Nothing of a system's start is needed. The checkout may be in /tmp or /home, where the service sees
# no others' files.
# shellcheck disable=SC2154 # of commands.sh
cat > $units/schedtape@.service.d/test.conf << EOC
[Unit]
DefaultDependencies=no
[Service]
BindReadOnlyPaths=$(command -v schedtape)
StandardError=append:$dir/said
EOC
printf '[Unit]\nDefaultDependencies=no\n' > $units/test.target
echo "RECORD_OPTIONS=-a --switch-output" > /etc/schedtape/web.conf
echo "RECORD_OPTIONS=--no-such-option" > /etc/schedtape/wrong.conf
systemd-analyze verify --man=no $units/schedtape@.service > log 2>&1
report $? "systemd-analyze verify"
chain 100000000 5 > /dev/null &
chain=$!
unshare --pid --fork --mount --mount-proc --kill-child env container=test \
	$systemd --system --unit=test.target --log-target=console > system.txt 2>&1 &
outer=$!
trap '{ kill -KILL $outer $chain; wait; } 2> /dev/null; rm -rf "$dir"' EXIT
# in_system COMMAND...: runs a command where systemd runs
in_system()
{
	nsenter --target "$(pgrep -P $outer)" --mount --pid -- "$@"
}
is_up() { in_system systemctl is-active --quiet test.target; }
# shows PROPERTY VALUE: succeeds if the service has that
shows()
{
	[ "$(in_system systemctl show -P "$1" "schedtape@${3-web}")" = "$2" ]
}
eventually is_up 2> log
result=$?
cat system.txt >> log
report $result "systemd runs"

# -- the service -----------------------------------------------------------------------

in_system systemctl start schedtape@web > log 2>&1
result=$?
cat said system.txt >> log 2> /dev/null
report $result "the recorder starts, and says that it is ready"
recording && shows ActiveState active
report $? "it records"
in_system "$(command -v schedtape)" snapshot --recorder web > out 2> log &&
	grep -q '^/var/lib/schedtape/web.tape.20.*Z$' out
report $? "it has the name of the instance, and its tapes are in the state directory"
schedtape report "$(cat out)" > report.txt 2> log && grep -q chain: report.txt
report $? "all tasks are on the tape"
[ "$(stat -c %a /var/lib/schedtape "$(cat out)" | tr '\n' ' ')" = "700 600 " ]
report $? "which only root can read"
in_system systemctl kill -s KILL schedtape@web
started_again() { shows NRestarts 1 && shows ActiveState active; }
eventually started_again
report $? "it is started again after it was killed"
tapes=(/var/lib/schedtape/web.tape.20*Z)
[ ${#tapes[@]} = 2 ] && [ "${tapes[0]}" = "$(cat out)" ] && [ ! -e /var/lib/schedtape/web.tape.old ]
report $? "and both tapes of before are there"
in_system systemctl stop schedtape@web && shows ActiveState inactive && shows Result success
report $? "it ends"
tapes=(/var/lib/schedtape/web.tape*)
[ ${#tapes[@]} = 3 ] && schedtape report "${tapes[2]}" > report.txt 2> log && ! grep . log
report $? "the last tape is complete"
! in_system systemctl start schedtape@wrong 2> log && shows ActiveState failed wrong &&
	shows NRestarts 0 wrong && grep -q no-such-option said
report $? "wrong options are an error, and nothing is started again"
finish
