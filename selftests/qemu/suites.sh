# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # cache is of cache.sh
# suites.sh - packages of several Debian releases, whichever this machine runs. Sourced, after
# lib.sh; use_suite also needs cache.sh.
#
# Each release has package lists of its own in the cache, so that the machine's lists
# and settings stay as they are. The archive's address is the one that the machine uses.

# The releases that have the supported kernels.
known_suites=(bookworm trixie)

# host_suite: the name of this machine's release
host_suite()
{
	# shellcheck source=/dev/null
	(. /etc/os-release && echo "${VERSION_CODENAME-}")
}

# suites: prints the releases, the machine's own first, so that it is preferred
suites()
{
	local host

	host=$(host_suite)
	[[ " ${known_suites[*]} " != *" $host "* ]] || echo "$host"
	printf '%s\n' "${known_suites[@]}" | grep -vx "$host"
}

# archives: lines "Debian ADDRESS" and "Debian-Security ADDRESS", of the machine's lists
archives()
{
	# shellcheck disable=SC2016 # apt expands it
	apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' \
		'Origin: Debian' | sort -u
}

# archive_of LABEL
archive_of()
{
	archives | sed -n "s/^$1 //p" | head -n 1
}

# suite_sources SUITE: prints the content of its sources.list
suite_sources()
{
	local key=/usr/share/keyrings/debian-archive-keyring.gpg main security suite

	main=$(archive_of Debian)
	[ -n "$main" ] || { apt_update && main=$(archive_of Debian); }
	[ -n "$main" ] ||
		die "apt's sources name no Debian archive: add one, and run 'apt-get update'"
	security=$(archive_of Debian-Security)
	for suite in "$1" "$1-updates" "$1-backports"; do
		echo "deb [signed-by=$key] $main $suite main"
	done
	[ -z "$security" ] || echo "deb [signed-by=$key] $security $1-security main"
}

# suite_config DIR MACHINE: prints settings with which apt has its sources and lists in DIR
suite_config()
{
	cat <<-END
		APT::Architecture "$2";
		APT::Architectures { "$2"; };
		APT::Sandbox::User "root";
		Dir::Etc::sourcelist "$1/sources.list";
		Dir::Etc::sourceparts "-";
		Dir::State::lists "$1/lists";
		Dir::State::status "/dev/null";
		Dir::Cache "$1/cache";
	END
}

# update_lists: updates the lists of the release in use. If a mirror is in the middle of an
# update, its files do not match; so this tries again later.
update_lists()
{
	local tries=3 log

	until log=$(apt-get -q update 2>&1 < /dev/null); do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || { printf '%s\n' "$log" >&2; return 1; }
		sleep 20
	done
}

# fill_lists DIR FINAL MACHINE SOURCES: fills DIR with lists, for use as FINAL
fill_lists()
{
	mkdir -p "$1/lists/partial" "$1/cache/archives/partial" &&
	echo "$4" > "$1/sources.list" &&
	suite_config "$1" "$3" > "$1/apt.conf" || exit
	APT_CONFIG=$1/apt.conf update_lists || die "'apt-get update' failed: see above"
	suite_config "$2" "$3" > "$1/apt.conf"
	touch "$1/updated"
}

declare -A sources_of

# use_suite SUITE [MACHINE]: makes apt's commands refer to that release, with lists of today
use_suite()
{
	local name=apt/$1-${2-amd64} key dir

	# In subshells, which must not take this shell's settings for the machine's.
	[ -n "${sources_of[$1]-}" ] || sources_of[$1]=$(unset APT_CONFIG; suite_sources "$1") || exit
	key=$(hash_of <<< "${sources_of[$1]}")
	dir=$(unset APT_CONFIG; entry "$name" "$key" fill_lists "$cache/$name/$key" "${2-amd64}" \
		"${sources_of[$1]}") || exit
	export APT_CONFIG=$dir/apt.conf
	suite=$1
	lists_are_new || unreachable || refresh_lists || {
		failed_to_fetch
		echo "${0##*/}: the package lists of $suite are of $(date -r "$dir/updated" +%F)" >&2
	}
}

lists_are_new()
{
	[ -n "$(find "${APT_CONFIG%/*}/updated" -mmin -1440)" ]
}

# refresh_lists: updates the lists of the release in use
refresh_lists()
{
	local dir=${APT_CONFIG%/*}

	(flock 9 && update_lists && touch "$dir/updated") 9>> "$dir/lock"
}

# Prints the version of a package that apt would install; nothing if it offers none.
offered()
{
	apt-cache --no-all-versions show "$1" 2>/dev/null |
	sed -n 's/^Version: //p'
}

# depends PACKAGE: prints its dependencies, a line each
depends()
{
	apt-cache --no-all-versions show "$1" |
	sed -n 's/^Depends: //p' | tr -s ', ' '\n'
}

# download DIR PACKAGE...: downloads from the release in use. The lists may be out of date: then
# it updates them and tries again.
download()
{
	download_listed "$@" || { refresh_lists && download_listed "$@"; } ||
		die "cannot download ${*:2}: check the network and apt's sources"
}

download_listed()
{
	(cd "$1" && quietly apt-get -q download "${@:2}")
}

# unpack DIR: unpacks the packages that were downloaded into DIR
unpack()
{
	local deb

	for deb in "$1"/*.deb; do
		dpkg -x "$deb" "$1" || die "cannot unpack $deb: is the disk full?"
		rm "$deb"
	done
}
