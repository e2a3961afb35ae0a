# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# kernel-log.sh - find reports of bugs in a kernel's log. Sourced.

# Lines that only a broken kernel writes. One line of each report is enough.
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

# Drops data races that are the kernel's own: no stack of the report names one of our modules,
# except as the function that an interrupt interrupted. Races on the kernel's clocks are its own,
# too, whatever function reads them: a reader notices and reads again, which KCSAN understands
# from 6.13 on. So is the flag that a task gets when it uses a capability.
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
# (seen under scx_simple, in a sched_setscheduler() that was preempted). A console may not show
# the "cut here" before it, which is only an information.
without_foreign_warnings()
{
	awk 'within { report = report "\n" $0 }
	     /Sched_ext: .*\((en|dis)abling/ { switching = 1 }
	     within && /-\[ end trace / { if (!switching) print report; within = 0; next }
	     within { next }
	     /WARNING: .* at put_prev_task_scx\+/ {
		report = cut $0; cut = ""; within = 1; switching = 0
		next
	     }
	     { printf "%s", cut; cut = "" }
	     /-\[ cut here \]-/ { cut = $0 "\n"; next }
	     { print }
	     END { if (within) print report; else printf "%s", cut }'
}

# without_foreign: drops the reports that are not about our modules
without_foreign()
{
	without_foreign_races | without_foreign_warnings
}

# kernel_reports [OPTION...]: prints the lines of a kernel's log that belong to reports; the
# options are grep's
# shellcheck disable=SC2119,SC2120 # vm has some
kernel_reports()
{
	local all

	all=$(printf '|%s' "${reports[@]}")
	without_foreign | grep -aE "$@" -e "${all#|}"
}

# only_stalls: tests whether the reports of the log on the input, if any, are only of the kinds
# that come from a CPU which its host did not run for a while
# shellcheck disable=SC2119 # it has no options for grep
only_stalls()
{
	! kernel_reports | grep -qavE \
		'(soft|workqueue) lockup|blocked for more than|[Ss]tall|rcu_sched detected|Call Trace:'
}

# emulator_stuck CONSOLE: is the first report on the console a failure of the emulator?
#
# While the kernel patches an instruction, it puts a breakpoint in its place. QEMU sometimes
# keeps executing the breakpoint although the memory has the instruction: an Oops, or a CPU
# that loops there while the patching CPU waits for it. If that is the first report of a
# console, the test is not at fault.
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

# begin_log NAME: the log from here on belongs to NAME
begin_log()
{
	echo "<6>selftests: begin $1" > /dev/kmsg
}

# new_reports NAME: prints the reports since begin_log; fails if there are none. If the log has
# overflowed, it cannot tell.
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

# look_for_mistakes: enables reports that are off by default, and drops earlier ones
look_for_mistakes()
{
	[ ! -w $leaks ] || echo clear > $leaks
	[ ! -w $races ] || echo on > $races
}

# look_for_leaks: reports leaks in the kernel's log, and prints where they were allocated
look_for_leaks()
{
	# kmemleak ignores objects younger than 5 s. One scan may take an object for leaked
	# because its pointer moved or was in a register; the next scan finds it. Linux 7.3
	# reports only objects that two scans in a row have not found.
	echo scan > $leaks && sleep 6 && echo scan > $leaks && echo scan > $leaks && cat $leaks
}
