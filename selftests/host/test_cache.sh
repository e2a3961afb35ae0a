#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Usage: test_cache.sh
#
# Description: checkouts share downloads and compiled objects. An entry of the cache is made once, is
# there only when it is whole, and is removed when nobody uses it. If a download fails, fetch takes
# the newest entry in the cache, and names it. A clone elsewhere compiles nothing again.

set -u
folder=$(mktemp -d) || exit
export XDG_CACHE_HOME=$folder/cache
. "$(dirname "$(realpath "$0")")/lib.sh"
trap 'rm -rf "$folder"' EXIT
fetch_seconds=0

# fill DIR WHAT
fill()
{
	echo "$2" > "$1/content"
	echo made >> "$folder/made"
	sleep 0.3
}

not()
{
	! "$@"
}

cannot()
{
	echo "no network" >&2
	return 1
}

made_once()
{
	entry kinds/name 1 fill one > "$folder/first" &
	entry kinds/name 1 fill other > "$folder/second"
	wait
	cmp "$folder/first" "$folder/second" && [ "$(wc -l < "$folder/made")" = 1 ] &&
	[ -e "$cache/kinds/name/1/content" ]
}

half_made()
{
	not entry kinds/half 1 cannot && [ ! -e "$cache/kinds/half/1" ]
}

# The other one was used later.
takes_newest()
{
	entry kinds/name 0 fill older > /dev/null && touch -d yesterday "$cache/kinds/name/1" &&
	[ "$(fetched kinds/name cannot 2> "$folder/err")" = "$cache/kinds/name/1" ] &&
	grep -qx 'no network' "$folder/err" &&
	grep -qx '# cached: kinds/name cannot be fetched: took 1' "$folder/err"
}

nothing_there()
{
	not fetched kinds/other cannot
}

# A name that does not exist is not tried for minutes.
wrong_name()
{
	local status fetch_seconds=11

	rm -f "$cache/.unreachable"
	never() { echo tried >> "$folder/tried"; return 3; }
	fetched kinds/other never 2> /dev/null
	status=$?
	same "$status" 1 && same "$(wc -l < "$folder/tried")" 1 || return
	entry kinds/other 1 never
	same $? 3
}

unused()
{
	touch -d '31 days ago' "$cache/kinds/name/0" &&
	entry kinds/name 2 fill newer > /dev/null &&
	[ ! -e "$cache/kinds/name/0" ] && [ -e "$cache/kinds/name/1" ]
}

too_much()
{
	local cache_gb=0

	touch -d '3 hours ago' "$cache/kinds/name/1"
	entry kinds/name 3 fill newest > /dev/null &&
	same "$(cd "$cache/kinds/name" && echo *)" "2 3"
}

# compiled DIR: builds a clone in DIR, and prints how many objects the compiler had to make
compiled()
{
	git clone -q "$top" "$1" && (
		top=$1
		use_ccache
		unset SCHEDTAPE_BUILD MAKEFLAGS
		ccache -z > /dev/null
		make -s -j "$(nproc)" -C "$1" all python > /dev/null &&
		make -s -j "$(nproc)" -C "$1/selftests" > /dev/null &&
		make -s -j "$(nproc)" -C "$1/selftests/unit" all TESTS="tape page" > /dev/null &&
		make -s -C "$1" module KERNEL=6.12 > /dev/null &&
		ccache --print-stats | sed -n 's/^cache_miss\t//p'
	)
}

clone_elsewhere()
{
	local first second

	first=$(compiled "$folder/a") && second=$(compiled "$folder/longer/name") || return
	[ "$first" -gt 100 ] && same "$second" 0
}

check "an entry is made once, though two want it" made_once
check "one that cannot be made is not there by half" half_made
check "if a download fails, the newest entry is taken, and named" takes_newest
check "if a download fails and there is no entry, that is a failure" nothing_there
check "a wrong name is tried once" wrong_name
check "what nobody has used for 30 days goes when something is made" unused
check "... and if there is too much, what nobody has used for longest" too_much
check "a clone elsewhere compiles nothing again" clone_elsewhere
finish
