# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # top is of lib.sh
# results.sh - when each part of "check", and the tests on each debug kernel, last ran, and how.
# Sourced, after qemu/lib.sh.
#
# check.result has a line for each: the part; a hash of what it depends on, as it was when the tests
# were built; how many tests passed, failed and were skipped; the day; and for a debug kernel its
# release, and the hash of its configuration.

noted=$top/selftests/suite/check.result

# depends_on PART: prints the folders and files on whose content the part's result depends. Prints
# nothing for parts whose results are not noted: "gate", because each change has to pass it, and
# "debug", because it prints what other runs have noted.
depends_on()
{
	case $1 in
	*-debug-* | *-kcsan-*) echo kmod include ;;
	[0-9]* | rt | generic | odd | newest | machines)
		echo kmod include user \
			selftests/{cli,config,host,lib,module,preload,qemu,run,scx,suite,workloads} ;;
	builds | packages | host)
		echo kmod include user Documentation LICENSES debian Makefile dkms.conf selftests ;;
	style)
		echo .ci kmod include user Documentation debian Makefile {README,CONTRIBUTING}.rst \
			selftests ;;
	fuzz) echo kmod include user selftests ;;
	esac
}

# hash_for PART: prints the hash of what the part depends on; nothing for one that is not noted
hash_for()
{
	local paths

	read -ra paths < <(depends_on "$1")
	[ ${#paths[@]} = 0 ] ||
	(cd "$top" && find "${paths[@]}" -type f ! -name '*.result' ! -name '*.pyc' -print0 |
		LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c 1-16)
}

# note_result PART HASH PASSED FAILED SKIPPED [RELEASE KEY]: HASH is that of the time when the tests
# were built
note_result()
{
	{
		grep -v "^$1 " "$noted"
		echo "${*:1:5} $(date -u +%F)${6:+ ${*:6}}"
	} > "$noted.new" && mv "$noted.new" "$noted"
}

# note_of PART [KEY]: prints what is noted: numbers, day, release. Fails if that does not hold for the
# sources as they are or, with KEY, for that configuration.
note_of()
{
	awk -v run="$1 $(hash_for "$1")" -v key="${2-}" '
		$1 " " $2 == run && (key == "" || $8 "" == key) {
			print $3, $4, $5, $6, $7
			found = 1
		}
		END { exit !found }' "$noted"
}

# tell_outdated PART...: prints which parts have not passed since what they depend on has changed
tell_outdated()
{
	local part failed outdated=()

	for part; do
		[ -n "$(depends_on "$part")" ] || continue
		read -r _ failed _ < <(note_of "$part") && [ "$failed" = 0 ] || outdated+=("$part")
	done
	[ ${#outdated[@]} = 0 ] ||
		echo "not run since a change, or failed: ${outdated[*]} (make check PART=...)"
}
