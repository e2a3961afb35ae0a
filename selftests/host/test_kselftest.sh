#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Description: this folder in a kernel's tree, as tools/testing/selftests/schedtape: it builds,
# runs and installs there with the installed library and program, and the kernel's own parser reads
# its output. It runs on the kernels in GUESTS, by default the newest of the tested ones.

set -u
. "$(dirname "$(realpath "$0")")/lib.sh"
KERNELS=''

# Two of each kind: programs and scripts.
in_tree=(test_mmap test_missing_features.sh)
installed=(test_lifecycle test_filter.sh)

# Copies only the sources, so that no earlier build can help.
drop_in()
{
	cp -rH "$linux" "$T/linux" && mkdir "$tree/schedtape" &&
	(cd "$top/selftests" && git ls-files -co --exclude-standard -z |
		xargs -0 cp --parents -t "$tree/schedtape")
}

# The config fragment has only options that exist, and that the kernels have on which the tests
# pass.
right_config()
{
	local kernel option

	for kernel in $(tested_series); do
		while read -r option; do
			grep -qx "$option" "$("$top/selftests/qemu/fetch" kernel "$kernel")/kdir/.config" ||
				{ echo "$kernel: $option"; return 1; }
		done < "$tree/schedtape/config"
	done
}

needs_library()
{
	make -s -C "$tree" TARGETS=schedtape FORCE_TARGETS=1 2>&1 |
		grep 'there is no libschedtape: install'
}

build_and_install()
{
	make -s -j"$(nproc)" -C "$tree" TARGETS=schedtape FORCE_TARGETS=1 install \
		KSFT_INSTALL_PATH="$T/kselftest"
}

# The installation has all tests, their files, and the settings.
complete()
{
	local file

	for file in run settings config lib/commands.sh storm test_mmap test_record.sh; do
		[ -e "$T/kselftest/schedtape/$file" ] || { echo "no $file"; return 1; }
	done
	diff <(basename -s .c "$top"/selftests/module/*/test_*.c | sort) \
		<(sed -n 's/^schedtape:\(test_[^.]*\)$/\1/p' "$T/kselftest/kselftest-list.txt" | sort) &&
	grep -x 'schedtape:test_record.sh' "$T/kselftest/kselftest-list.txt"
}

# run_tests SERIES: runs in one guest of that kernel, with one CPU: see lib/avoid-patching.sh. The
# newest series also runs the tests as installed.
run_tests()
{
	local rw=$T/rw/$1

	mkdir -p "$rw" &&
	cat > "$T/guest" <<-END || return
		cp -a $T/layers/usr $T/layers/etc $T/layers/var /
		unset SCHEDTAPE_BUILD
		make -s -C $tree TARGETS=schedtape run_tests \\
			TEST_GEN_PROGS="${in_tree[*]/#/$tree/schedtape/}" > $rw/in-tree.tap
	END
	[ "$1" != "${guests[-1]}" ] || cat >> "$T/guest" <<-END
		cd $T/kselftest && ./run_kselftest.sh ${installed[*]/#/-t schedtape:} > $rw/installed.tap
	END
	timeout 1220 "$top/selftests/qemu/vm" --kernel "$1" --cpus 1 --timeout 1200 \
		--rw "$rw" -- bash "$T/guest"
}

# passed SERIES/NAME TEST...: the kernel's own parser reports that these have passed, and no
# others
passed()
{
	local test summary

	for test in "${@:2}"; do
		grep -E "^ok [0-9]+ selftests: schedtape: $test\$" "$T/rw/$1.tap" ||
			{ cat "$T/rw/$1.tap"; return 1; }
	done
	summary=$(/usr/bin/python3 "$linux/tools/testing/kunit/kunit.py" parse "$T/rw/$1.tap" 2>&1) ||
		{ echo "$summary"; return 1; }
	echo "$summary"
	grep -E "Testing complete. Ran $(($# - 1)) tests: passed: $(($# - 1))\$" <<< "$summary"
}

own_settings()
{
	grep -qx "# timeout set to $(sed -n 's/^timeout=//p' "$top/selftests/settings")" "$T/rw/$1.tap"
}

make_folder
linux=$("$top/selftests/qemu/fetch" selftests) || exit
read -ra guests <<< "${GUESTS:-$(tested_series | tail -n 1)}"
tree=$T/linux/tools/testing/selftests
export tree
export -f build_and_install
echo "TAP version 13"
check "into a kernel's tree" drop_in
check "its config fragment" right_config
if can_isolate; then
	check "without the library, make says that it is missing" needs_library
	check "install the library and the program" isolated make -s -C "$top" install-user
	check "build and install" isolated build_and_install
	check "all is there" complete
	for series in "${guests[@]}"; do
		begun=$SECONDS
		check "$series: run them" run_tests "$series"
		echo "# $series: $((SECONDS - begun)) s"
		check "$series, in the tree: all passed" passed "$series/in-tree" "${in_tree[@]}"
	done
	check "${guests[-1]}, as installed: all passed" passed "${guests[-1]}/installed" "${installed[@]}"
	check "its settings count" own_settings "${guests[-1]}/in-tree"
else
	skip "build" "needs root, and overlays"
fi
finish
