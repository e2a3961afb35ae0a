#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Description: reports of the kernel are distinguished from its other lines; and data races of the
# module from other ones.

set -u
. "$(dirname "$(realpath "$0")")/lib.sh"
. "$top/selftests/lib/kernel-log.sh"

fine=(
	'[    0.000000] [Firmware Bug]: TSC doesn'\''t count with P0 frequency!'
	'[    0.000000] kasan: KernelAddressSanitizer initialized'
	'[    0.021000] kcsan: enabled early'
	'[    0.500000] Warning: unable to open an initial console.'
	'[    1.000000] rcu: 	RCU lockdep checking is enabled.'
	'[    2.000000] kmemleak: Kernel memory leak detector initialized (mem pool available: 15679)'
	'[    3.000000] schedtape: loading out-of-tree module taints kernel.'
	'[    4.000000] Lock dependency validator: Copyright (c) 2006 Red Hat, Inc., Ingo Molnar'
	'[    5.000000] NMI watchdog: Perf NMI watchdog permanently disabled'
)
bad=(
	'BUG: KASAN: slab-use-after-free in stape_ring_free+0x30/0x80 [schedtape]'
	'BUG: KASAN: stack-out-of-bounds in probe+0x1c0/0x200 [schedtape]'
	'general protection fault, probably for non-canonical address 0xdffffc0000000003: 0000 [#1] PREEMPT SMP KASAN'
	'Oops: 0000 [#1] PREEMPT SMP NOPTI'
	'BUG: unable to handle page fault for address: ffffc90000b8d000'
	'BUG: stack guard page was hit at 00000000a5b24f8b'
	'WARNING: possible circular locking dependency detected'
	'WARNING: possible recursive locking detected'
	'WARNING: inconsistent lock state'
	'WARNING: suspicious RCU usage'
	'WARNING: bad unlock balance detected!'
	'WARNING: CPU: 0 PID: 97 at kmod/session.c:120 stape_session_stop+0x1/0x2 [schedtape]'
	'BUG: sleeping function called from invalid context at kmod/filter.c:80'
	'BUG: scheduling while atomic: insmod/97/0x00000002'
	'BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 40s!'
	'ODEBUG: free active (active state 0) object: 0000000012345678 object type: hrtimer hint: late+0x0/0x20'
	'refcount_t: underflow; use-after-free.'
	'refcount_t: saturated; leaking memory.'
	'list_add double add: new=ffff888004d4bc80, prev=ffff888004d4bc80, next=ffff888004d4bcc0.'
	'list_del corruption, ffff88800123->next is LIST_POISON1 (dead000000000100)'
	'UBSAN: shift-out-of-bounds in kmod/clock.c:31:2'
	'kmemleak: 16 new suspected memory leaks (see /sys/kernel/debug/kmemleak)'
	'watchdog: BUG: soft lockup - CPU#0 stuck for 26s! [schedtape:97]'
	'INFO: task schedtape:97 blocked for more than 120 seconds.'
	'rcu: INFO: rcu_preempt self-detected stall on CPU'
	'Kernel panic - not syncing: Fatal exception in interrupt'
)

# race MODULE [FUNCTIONS]: prints a report of KCSAN
race()
{
	cat <<-END
		[    7.000000] ==================================================================
		[    7.000100] BUG: KCSAN: data-race in ${2:-count / count}
		[    7.000200] 
		[    7.000300] read-write to 0xffffffffc0003600 of 8 bytes by task 104 on cpu 1:
		[    7.000400]  count+0x5a/0x90$1
		[    7.000500]  kthread+0x1a5/0x1e0
		[    7.000600] 
		[    7.000700] Reported by Kernel Concurrency Sanitizer on:
		[    7.000800] CPU: 1 UID: 0 PID: 104 Comm: planted/1 Not tainted 6.12.117 #1
		[    7.000900] ==================================================================
	END
}

quiet()
{
	! printf '%s\n' "${fine[@]}" | kernel_reports
}

# Each line alone, as on a console or in dmesg.
each()
{
	local line

	for line in "${bad[@]}"; do
		printf '%s\n' "${fine[@]}" "[    8.123456] $line" | kernel_reports | grep -qF "$line" ||
			{ echo "not seen: $line"; return 1; }
	done
}

ours()
{
	race ' [schedtape]' | kernel_reports | grep 'data-race in count'
}

# The same, with later lines.
foreign()
{
	same "$({ race ''; echo '[    9.0] WARNING: CPU: 0'; race ''; } | kernel_reports)" \
		'[    9.0] WARNING: CPU: 0'
}

# The clock is the kernel's, although our code reads it; a race in another clock function is
# unknown.
clock()
{
	{
		race ' [schedtape]' 'ktime_get_mono_fast_ns / timekeeping_update'
		race ' [schedtape]' 'ktime_get_mono_fast_ns+0x86/0x160'
	} | kernel_reports && return 1
	race ' [schedtape]' 'ktime_get_mono_fast_ns / stape_ring_open [schedtape]' |
		kernel_reports | grep 'data-race in ktime'
}

# capable() changes its task's flags, which is the kernel's own race, too.
capability()
{
	{
		race ' [schedtape]' 'ns_capable / prepare_signal'
		race ' [schedtape]' 'do_exit / ns_capable'
	} | kernel_reports && return 1
	race ' [schedtape]' 'ns_capable_ours / do_exit' | kernel_reports | grep 'data-race in ns'
}

# switching FUNCTION STATE: prints a kernel's warning with sched_ext in that state
switching()
{
	cat <<-END
		[    8.000000] ------------[ cut here ]------------
		[    8.000100] WARNING: kernel/sched/ext/ext.c:3254 at $1+0x3d2/0x540, CPU#1: schedtape/1720
		[    8.000200] Modules linked in: schedtape(OE) overlay
		[    8.000300] Sched_ext: simple ($2), task: runnable_at=-8ms
		[    8.000400] Call Trace:
		[    8.000500] ---[ end trace 0000000000000000 ]---
	END
}

# Schedulers in transition are the kernel's own matter; one that is on, or another warning, is
# not.
schedulers()
{
	{
		switching put_prev_task_scx enabling+all
		switching put_prev_task_scx disabling
		switching put_prev_task_scx enabling+all | tail -n +2
	} | kernel_reports && return 1
	switching put_prev_task_scx enabled+all | kernel_reports | grep WARNING &&
	switching put_prev_task_scx enabled+all | head -n 1 | kernel_reports | grep 'cut here' &&
	switching stape_switch_scx enabling+all | kernel_reports | grep WARNING &&
	same "$({ switching put_prev_task_scx enabling; echo '[    9.0] WARNING: CPU: 0'; } | kernel_reports)" \
		'[    9.0] WARNING: CPU: 0'
}

mixed()
{
	same "$({ race ''; race ' [schedtape]'; race ''; } | kernel_reports | wc -l)" 1
}

# A log that ends within a report does not show whose it is.
torn()
{
	race '' | head -n 5 | kernel_reports | grep 'data-race in count'
}

# Replaces the command: prints the variable of its name.
dmesg()
{
	echo "$dmesg"
}

# Only lines since the start of the test count; and if the log has lost the start, that is
# reported.
begun()
{
	local dmesg="[ 1.0] ${bad[0]}"$'\n'"[ 2.0] selftests: begin 7"$'\n'"[ 3.0] ${fine[0]}"

	! new_reports 7 || return
	dmesg+=$'\n'"[ 4.0] ${bad[1]}"
	same "$(new_reports 7)" "[ 4.0] ${bad[1]}"
}

lost()
{
	local dmesg="[ 3.0] ${fine[0]}"

	new_reports 7
}

# console LINE...: makes a guest's console
console()
{
	printf '[    1.000000] %s\n' "${fine[0]}" "$@" > "$T/console"
}

# A CPU executed an instruction while it was patched; unless another report came before.
stuck()
{
	console 'Oops: int3: 0000 [#1] PREEMPT SMP NOPTI' && emulator_stuck "$T/console" &&
	console 'int3: 0000 [#1] PREEMPT SMP PTI' ' text_poke_bp_batch+0x8b/0x290' &&
	emulator_stuck "$T/console" &&
	console 'rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:' ' text_poke_bp+0x4d/0x80' &&
	emulator_stuck "$T/console"
}

not_stuck()
{
	local report

	for report in 'BUG: KASAN: slab-use-after-free in stape_ring_free+0x30/0x80' \
			'WARNING: CPU: 0 PID: 97 at kmod/session.c:120'; do
		console "$report" ' text_poke_bp_batch+0x8b/0x290' \
			'Oops: int3: 0000 [#1] PREEMPT SMP NOPTI'
		! emulator_stuck "$T/console" || return
	done
	console 'rcu: INFO: rcu_preempt self-detected stall on CPU' ' stape_ring_write+0x1/0x2'
	! emulator_stuck "$T/console"
}

make_folder
check "messages of a healthy kernel are no reports" quiet
check "each kind of report is one" each
check "a data race of the module is reported" ours
check "a data race elsewhere is not, but a report behind it is" foreign
check "... among others" mixed
check "... nor one of the kernel's clock with its readers" clock
check "... nor one of the flags of a task that uses a capability" capability
check "a warning of schedulers that go on or off is the kernel's" schedulers
check "one that is torn is" torn
check "only new lines of a log count" begun
check "... and it is reported if the log has lost them" lost
check "a report that the emulator has caused is recognized" stuck
check "... but not if it came behind another report" not_stuck
finish
