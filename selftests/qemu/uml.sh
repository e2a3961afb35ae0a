# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with vm
# uml.sh - run a guest in User Mode Linux, a kernel that is a program of this machine. Sourced, by vm.
#
# It runs at the CPU's own speed, but each system call and page fault costs signals of this
# machine. Its /host is this machine's root, through hostfs. Its output streams are serial lines,
# which are our descriptors. It has no kprobes, no perf events, no hotplug of CPUs and no counter as
# a clock.

# uml_options: ends vm if an option needs an emulated guest
uml_options()
{
	if [ -n "$icount$disk$monitor${plugin[*]}" ] || [ "$nodes" != 1 ]; then
		wrong "$kernel is a program: it has none of the options of an emulated machine"
	fi
	[ -z "$own" ] || [ ${#rw[@]} = 0 ] ||
		wrong "$kernel cannot send back files of --rw from a guest in memory"
}

# uml: sets program and devices. Several CPUs need seccomp. The kernel puts its memory into a file
# in TMPDIR, or in memory if there is no such variable. Standard input is empty: at the end of a
# line's input Linux 7.3 frees an interrupt while it handles one, and reports that.
uml()
{
	local words

	ulimit -c 0
	program=(env -u TMPDIR -u TMP -u TEMP "$prefix/vmlinuz")
	devices=(
		"mem=${mem}M" "ncpus=$cpus" seccomp=on "uml_dir=$T/" umid=uml "initrd=$T/initramfs"
		console=tty0 loglevel=5 con=null "con0=null,fd:6" ssl=null
		"ssl0=null,fd:3" "ssl1=null,fd:4" "ssl2=null,fd:5"
	)
	read -ra words <<< "$append"
	devices+=("${words[@]}")
}
