# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Shared by the scripts of the rig. Sourced, never run.

here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
top=$(realpath "$here/../..")
build=$(realpath -m "${SCHEDTAPE_BUILD:-$top/build}")
# Used by the scripts that source this file.
# shellcheck disable=SC2034
readonly here top build

# die MESSAGE [STATUS]: prints a line with what failed and what to do, and exits.
die()
{
	echo "${0##*/}: $1" >&2
	exit "${2:-1}"
}

# The comment at the top of a script is its manual. $0 may be relative, and a script may change its
# folder before it calls usage, so this computes the absolute path.
manual=$(realpath "$0")
usage()
{
	sed -n '/^$/q; 3,$s/^# \{0,1\}//p' "$manual"
}

# quietly COMMAND...: prints COMMAND's output only if it fails.
quietly()
{
	local log

	log=$("$@" 2>&1 </dev/null) && return
	printf '%s\n' "$log" >&2
	return 1
}

apt_update()
{
	[ "$(id -u)" = 0 ] || die "the package lists are out of date: run 'apt-get update' as root"
	quietly apt-get -q update || die "'apt-get update' failed: see above"
}

# libraries FILE...: prints the libraries that programs need, and those that these need, by the paths
# that this machine's loader uses
libraries()
{
	local wanted found='' new

	# Programs name the loader by its path in /lib64.
	wanted=$(ldconfig -p | sed -n 's/^\t\(\S*\) (libc6,x86-64.*) => /\1 /p' |
		sed 's,^\(ld-linux.*\) .*,\1 /lib64/\1,')
	new=$(printf '%s\n' "$@")
	while [ -n "$new" ]; do
		new=$(xargs readelf -d <<< "$new" 2> /dev/null |
			sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u |
			awk 'NR == FNR { path[$1] = $2; next } $1 in path { print path[$1] }' \
				<(echo "$wanted") - | grep -vxF "${found:-/}")
		found+=${found:+${new:+$'\n'}}$new
	done
	[ -z "$found" ] || echo "$found"
}
