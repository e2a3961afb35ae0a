# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# commands.sh - what the tests of commands share: a folder of their own that
# goes with them, the programs in PATH, and TAP results.  Sourced.

build=${SCHEDTAPE_BUILD:-$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../../build}
PATH=$build:$build/selftests/workloads:$PATH
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
cd "$dir" || exit 1
tests=0 failed=0

# report STATUS TEXT: one result; a failure shows the file "log"
report()
{
	tests=$((tests + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tests $2"
	else
		failed=$((failed + 1))
		echo "not ok $tests $2"
		sed 's/^/# /' log
	fi
}

# skip REASON: a result that this machine cannot give
skip()
{
	tests=$((tests + 1))
	echo "ok $tests # SKIP $1"
}

# finish: the plan, and the exit status
finish()
{
	echo "1..$tests"
	[ "$failed" = 0 ]
}
