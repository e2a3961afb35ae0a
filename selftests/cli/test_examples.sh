#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: the examples of the manual pages work as they are printed.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli}/lib/commands.sh"
. "${here%/cli}/lib/examples.sh"

# -- whether examples that fail are found -------------------------------------------

document()
{
	cat <<- 'END'
	Text::

	    $ schedtape list
	    output
	    $ schedtape status

	.. example: not run: it needs another machine

	Code::

	  no example
	  sudo schedtape record

	A sentence about schedtape report.
	END
}

sample()
{
	cat <<- 'END'
	.Dl schedtape record -q -- true
	.\" example: none
	.Dl some output
	.Bd -literal -offset indent
	schedtape record -q -- \&./client \e
	    \(aqa b\(aq
	.Ed
	.\" example: not run: it needs another machine
	.Dl ssh other schedtape record -a --no-such-option; schedtape list
	.Ql schedtape report --nor-this .
	.Dl schedtape record -q -o none -- true; rm none
	.Dl schedtape info /nonexistent || true
	.Dl schedtape list; false
	END
}

# is N KIND LINES: the Nth example is so
is()
{
	grep -qE "^$1	sample\.[a-z0-9]+:[0-9]+	$2	" list && cmp "examples/$1" <(echo "$3") > log 2>&1
	report $? "the parser: $2 at $1"
}

# fails N COMMAND...
fails()
{
	! "${@:2}" "$dir/examples/$1"
	report $? "found: $(head -n 1 "$dir/examples/$1")"
}

test_itself()
{
	sample > sample.1
	document > sample.rst
	take sample.rst
	report $? "the examples of a document"
	is 1 run $'schedtape list\nschedtape status'
	is 2 not-run $'no example\nsudo schedtape record'
	printf '%s\n' '.. example: Ctrl-C' '' 'Code::' '' '  other' '' > mark.rst
	! take mark.rst && grep -q 'mark.rst: mark "Ctrl-C" is before no example' log
	report $? "a mark needs an example"
	take sample.1
	report $? "the examples of a page"
	is 1 run 'schedtape record -q -- true'
	is 2 run $'schedtape record -q -- ./client \\\n    \'a b\''
	is 3 not-run 'ssh other schedtape record -a --no-such-option; schedtape list'
	is 4 named 'schedtape report --nor-this'
	in_folder sample run_example "$dir/examples/2" run
	report $? "an example of two lines"
	fails 5 in_folder sample run_example
	fails 6 in_folder sample run_example
	fails 7 in_folder sample run_example
}

prepare
test_itself
try_all "$here"/../Documentation/man/*.[1-9] "$build"/man/*
finish
