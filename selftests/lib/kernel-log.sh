# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# kernel-log.sh - what a kernel's log says of mistakes.  Sourced.

# What only a broken kernel writes. A line of each report is enough.
reports=(
	'cut here' 'Call Trace:' '\bBUG: ' 'kernel BUG at' '(^|\] )WARNING: ' '\bOops'
	'Kernel panic' 'general protection' 'unable to handle'
	'soft lockup' 'hard LOCKUP' 'blocked for more than'
	'self-detected stall' 'detected (expedited )?stalls'
	'rcu_sched detected' 'RCU [Ss]tall' 'refcount_t: ' 'list_(add|del) (corruption|double)'
	'possible (recursive|irq lock|circular)' 'circular locking'
	'inconsistent lock state' 'suspicious RCU usage' 'bad unlock balance'
	'held lock freed' 'non-static key' 'sleeping function called'
	'scheduling while atomic' 'KASAN: ' 'KCSAN: ' 'UBSAN: ' 'ODEBUG: '
	'kmemleak: .* new suspected' 'workqueue lockup' 'corrupted stack end'
)
leaks=/sys/kernel/debug/kmemleak
races=/sys/kernel/debug/kcsan

# Data races that have nothing to do with our modules are the kernel's own: no stack
# of the report names one of them, or only as what an interrupt came upon. So are those
# of the clocks that may be read anywhere, whoever reads them: their readers see that
# they have to look again, which KCSAN understands from 6.13 on. And so is the flag that
# a task gets when it uses a capability.
without_foreign_races()
{
	awk '/BUG: KCSAN: / {
		report = $0; ours = 0; within = 1; interrupt = 0
		foreign = /data-race in (__)?ktime_get_[a-z_]*fast(_ns)?(\+0x| \/ timekeeping_update)/ ||
			/( \/ |data-race in )ns_capable( \/|\r?$)/
		next
	     }
	     !within { print; next }
	     { report = report "\n" $0 }
	     / (to|marked) .* by / { interrupt = 0 }
	     / asm_(sysvec|common_interrupt)/ { interrupt = 1 }
	     /\[(schedtape|planted)\]/ && !interrupt { ours = !foreign }
	     /====================/ { if (ours) print report; within = 0 }
	     END { if (within) print report }'
}

# While a scheduler of sched_ext goes on or off, tasks of its class run beside tasks of the fair
# one. Linux 7.3 warns of that in put_prev_task_scx(), whose rule is for a scheduler that is on
# (seen under scx_simple, in a sched_setscheduler() that was preempted).
without_foreign_warnings()
{
	awk '/-\[ cut here \]-/ { report = $0; within = 1; switching = 0; first = 1; foreign = 0; next }
	     !within { print; next }
	     { report = report "\n" $0 }
	     first { foreign = /WARNING: .* at put_prev_task_scx\+/; first = 0 }
	     /Sched_ext: .*\((en|dis)abling/ { switching = 1 }
	     /-\[ end trace / { if (!foreign || !switching) print report; within = 0 }
	     END { if (within) print report }'
}

# without_foreign: drops the reports that are the kernel's own matter
without_foreign()
{
	without_foreign_races | without_foreign_warnings
}

# kernel_reports [OPTION...]: those lines of a kernel's log that belong to reports;
# options are grep's
# shellcheck disable=SC2119,SC2120 # vm has some
kernel_reports()
{
	local all

	all=$(printf '|%s' "${reports[@]}")
	without_foreign | grep -aE "$@" -e "${all#|}"
}

# emulator_stuck CONSOLE: is that what is wrong first?
#
# QEMU sometimes goes on with the breakpoint that the kernel had in
# place of an instruction while it was patched, though its memory has the
# instruction: an Oops, or a CPU that is caught there, while the one that patches
# waits for it. That is no test's fault, if it is the first that a console has.
emulator_stuck()
{
	local first

	first=$(kernel_reports -m 1 -e 'int3: 0000' < "$1")
	case $first in
	*'int3: 0000'*) ;;
	*lockup* | *LOCKUP* | *stall*) grep -q text_poke_bp "$1" ;;
	*) false ;;
	esac
}

# begin_log NAME: what is logged from here on is that of NAME
begin_log()
{
	echo "<6>selftests: begin $1" > /dev/kmsg
}

# new_reports NAME: since then; fails if there are none. A log that is full forgets: then
# nobody knows.
# shellcheck disable=SC2119 # these are not its own
new_reports()
{
	local new

	new=$(dmesg | sed -n "/selftests: begin $1\$/,\$p")
	if [ -z "$new" ]; then
		echo "the kernel's log has lost what was new"
	else
		kernel_reports <<< "$new"
	fi
}

# look_for_mistakes: those that have to be asked for; what was before is not ours
look_for_mistakes()
{
	[ ! -w $leaks ] || echo clear > $leaks
	[ ! -w $races ] || echo on > $races
}

# look_for_leaks: into the kernel's log; and here, where they were allocated
look_for_leaks()
{
	# What is younger than 5 s is no leak yet, and what one scan has missed because
	# it moved, or found in a register, another does not. Linux 7.3 reports what two scans
	# in a row have missed.
	echo scan > $leaks && sleep 6 && echo scan > $leaks && echo scan > $leaks && cat $leaks
}
