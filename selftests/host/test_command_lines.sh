#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: each schedtape command in the manual pages, README.rst and the documents has options
# that it takes.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/host}/lib/commands.sh"
. "${here%/host}/lib/examples.sh"

# What stands in for PIDs that examples name.
mkdir bin locked
export pid=1
printf '#!/bin/sh\necho 1\n' > bin/pgrep
chmod 755 bin/pgrep
PATH=$dir/bin:$PATH
# An ordinary user has no rights anyway.
[ "$(id -u)" = 0 ] || nobody() { "$@"; }
chmod 555 locked

# parse COMMAND: succeeds if it has no wrong option. A user without rights runs it, in an empty
# folder that this user cannot write to: so it does nothing but fail.
parse()
{
	(cd locked && nobody timeout $((20 * patience)) bash -c "$1") > out 2> log < /dev/null
	case $? in
	0 | 1 | 2) ;;
	*) return 1 ;;
	esac
}

# parse_example FILE [WORD]: parses all commands of an example; WORD is added to each
parse_example()
{
	local command

	while read -r command; do
		parse "$command ${2-}" || { echo "$command" >> log; return 1; }
	done < <(commands "$1")
}

test_itself()
{
	local command

	for command in record filter info script report replay steer diff pack recover list status; do
		! parse "schedtape $command --no-such-option --help"
		report $? "found: a wrong option before --help of $command"
	done
	parse 'schedtape record -o t -- touch ran' && [ -z "$(ls locked)" ]
	report $? "a command that is only parsed does nothing"
}

# test_page FILE
test_page()
{
	local n place kind bad=0 nr=0

	take "$1" || bad=1
	while IFS=$'\t' read -r -u 3 n place kind _; do
		nr=$((nr + 1))
		# Inside a sentence it often is only a part of a command, so that help has to end it.
		parse_example "examples/$n" "$([ "$kind" != named ] || echo --help)" && continue
		bad=1
		sed "s/^/# $place: /" log
	done 3< list
	report $bad "${1##*/}: $nr examples"
}

test_itself
for page in "$here"/../Documentation/man/*.[1-9] "$build"/man/* "$here"/../README.rst \
	    "$here"/../Documentation/*.rst; do
	test_page "$page"
done
finish
