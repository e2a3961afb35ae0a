# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # top is of lib.sh
# chosen.sh - run some tests only.  Sourced, after kernels.sh and guests.sh; its functions run
# in the folder selftests.

# choose_tests TEST...: sets in_guests and on_host, the tests of each kind
choose_tests()
{
	local test

	in_guests=() on_host=()
	for test; do
		case $(find cli fuzz/module host module -name "$test" -o -name "$test.c") in
		'') die "there is no test '$test'; a unit test runs with: make unit TESTS=$test" 2 ;;
		host/*) on_host+=("$test") ;;
		*) in_guests+=("$test") ;;
		esac
	done
}

# run_chosen: runs tests of the host here, the others in one guest of each kernel in KERNELS
run_chosen()
{
	local kernel test

	for test in "${on_host[@]}"; do
		step "$test" "host/$test"
	done
	[ ${#in_guests[@]} -gt 0 ] || return
	choose_kernels
	[ ${#kernels[@]} -gt 0 ] || die "no release of Debian offers a kernel ${missing[*]}" 2
	for kernel in "${kernels[@]}"; do
		step "module $kernel" make -s -C "$top" module KERNEL="$kernel" &&
			guest_step "guest $kernel" qemu/vm --kernel "$kernel" --cpus 2 -- \
				"$(one "$kernel") ${in_guests[*]}"
	done
}
