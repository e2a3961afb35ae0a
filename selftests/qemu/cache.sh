# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # top is of lib.sh
# cache.sh - what was downloaded, and made of it, outside of all checkouts. Sourced, after lib.sh.
#
# An entry is the folder KIND/NAME/KEY below $cache. KEY says what it was made from. It appears when
# it is whole, and one process at a time makes it. Its time is that of its last use.

cache=$(realpath -m "${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/schedtape")
readonly cache

# Days without a use, and size, after which entries go; seconds for which a download is tried.
cache_days=30 cache_gb=20 fetch_seconds=${SCHEDTAPE_FETCH_SECONDS:-300}

# entries [TEST...]: prints all entries for which find's TESTs hold, a line "TIME PATH" each
entries()
{
	find "$cache" -mindepth 3 -maxdepth 3 -type d ! -name '.*' ! -path "$cache/ccache/*" "$@" \
		-printf '%T@ %p\n'
}

# oldest_first: sorts such lines, and prints the paths
oldest_first()
{
	sort -n | sed 's/^[^ ]* //'
}

# remove: removes the entries on the input. Each gets a hidden name first, so that no entry is there
# by half.
remove()
{
	local entry gone

	while read -r entry; do
		gone=${entry%/*}/.${entry##*/}.gone
		rm -rf --one-file-system "$gone"
		mv -T "$entry" "$gone" && rm -rf --one-file-system "$gone"
	done
}

# tidy_cache: removes entries that were not used for 30 days, and what ended processes have left. If
# the cache is too large, it also removes the oldest ones that were not used for two hours.
tidy_cache()
{
	local entry

	find "$cache" -mindepth 3 -maxdepth 3 -type d \( -name '.*.new' -o -name '.*.gone' \) \
		-mmin +1440 -exec rm -rf --one-file-system {} +
	entries -mtime +$cache_days | oldest_first | remove
	entries -mmin +120 | oldest_first | while read -r entry; do
		[ "$(du -sm "$cache" | cut -f 1)" -gt $((cache_gb * 1024)) ] || break
		remove <<< "$entry"
	done
}

# entry_key WORD...: prints them as a folder's name
entry_key()
{
	local key=$*

	echo "${key//[^A-Za-z0-9.+-]/_}"
}

# hash_of: prints a short hash of the input
hash_of()
{
	sha256sum | cut -c 1-16
}

# provide DIR COMMAND...: makes DIR, which "COMMAND TEMPORARY-DIR ..." fills. DIR appears when it
# is complete, and one process at a time works on it.
provide()
{
	local dir=$1 hidden

	hidden=$(dirname "$dir")/.$(basename "$dir")
	if [ ! -d "$dir" ]; then
		mkdir -p "$(dirname "$dir")" || exit 1
		exec {lock}>"$hidden.lock" || exit 1
		flock "$lock"
	fi
	if [ ! -d "$dir" ]; then
		new=$hidden.new
		trap 'rm -rf "$new"' EXIT
		trap 'exit 1' INT TERM HUP
		rm -rf "$new" && mkdir "$new" || exit 1
		("$2" "$new" "${@:3}") && touch "$new" && mv -T "$new" "$dir" || exit
	fi
	echo "$dir"
}

# entry NAME KEY COMMAND...: prints the folder of an entry. If it is not there, "COMMAND FOLDER ..."
# fills it.
entry()
{
	local dir=$cache/$1/$2

	if [ ! -d "$dir" ]; then
		(provide "$dir" "${@:3}") > /dev/null || return
		tidy_cache
	fi
	used "$dir"
}

# used DIR: prints the folder of an entry that is used, if it is still there
used()
{
	touch -c "$1" && [ -d "$1" ] && echo "$1"
}

# unreachable: tests whether a download has failed in the last 10 minutes
unreachable()
{
	[ -n "$(find "$cache/.unreachable" -mmin -10 2> /dev/null)" ]
}

# patiently COMMAND...: runs COMMAND until it succeeds, for $fetch_seconds at most. It tries once if
# another download has just failed, or if COMMAND's status is 3, because waiting does not help then.
patiently()
{
	local end=$((SECONDS + fetch_seconds)) status log

	log=$(mktemp) || return
	! unreachable || end=0
	while :; do
		("$@") 2> "$log"
		status=$?
		if [ $status = 0 ] || [ $status = 3 ] || [ $SECONDS -ge $end ]; then
			break
		fi
		sleep 10
	done
	cat "$log" >&2
	rm "$log"
	[ $status = 0 ] || [ $status = 3 ] || failed_to_fetch
	return $status
}

failed_to_fetch()
{
	mkdir -p "$cache" && touch "$cache/.unreachable"
}

# fetched NAME COMMAND...: prints the entry of NAME that COMMAND prints. If COMMAND fails, prints the
# entry with the highest version. $fallback is a pattern for the keys of entries that will do then.
fetched()
{
	local dir

	if dir=$(patiently "${@:2}"); then
		echo "$dir"
		return
	fi
	dir=$(entries -path "$cache/$1/${fallback:-*}" | sed 's/^[^ ]* //' | sort -V | tail -n 1)
	[ -n "$dir" ] || return 1
	echo "# cached: $1 cannot be fetched: took ${dir##*/}" >&2
	used "$dir"
}

# module_path DIR: prints the path by which make gets the folder of a module. Up to 6.12 make runs
# in the kernel's folder, so that the compiler gets whole paths. With ccache they are the same for
# all checkouts, so that it knows what another one has compiled.
module_path()
{
	if [ "${CCACHE_DIR-}" = "$cache/ccache" ]; then
		echo "$cache/kmod/$(basename "$1")"
	else
		echo "$1"
	fi
}

# use_ccache: makes compilers that are called from here on reuse what any checkout has compiled
use_ccache()
{
	export PATH=/usr/lib/ccache:$PATH CCACHE_DIR=$cache/ccache CCACHE_MAXSIZE=5G \
		CCACHE_BASEDIR=$top CCACHE_NOHASHDIR=1
}
