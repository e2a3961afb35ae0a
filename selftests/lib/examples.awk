# SPDX-License-Identifier: GPL-2.0-only
# examples.awk - take the examples out of manual pages (mdoc) and documents (reStructuredText)
#
# Usage: awk -v to=DIR -f examples.awk FILE...
#
# Writes the text of the Nth example to DIR/N, and prints a line for each:
#	N TAB FILE:LINE TAB KIND TAB REASON
#
# Of a manual page, each .Dl line and each .Bd -literal block is an example, and so is each .Ql
# that names a command of schedtape. Of a document, each literal block is one that has a line which
# begins with schedtape; where some of its lines begin with "$ ", the others are output. KIND is
#	run	to be run
#	Ctrl-C	to be run until the user interrupts it
#	not-run	not to be run, for the REASON
#	named	of .Ql: a command that the text speaks of
#
# A comment before an example says what its text cannot. In a document it begins with ".. ":
#	.\" example: Ctrl-C
#	.\" example: not run: REASON
#	.\" example: none		output, or something else that is no command

function begin_file()
{
	name = FILENAME
	sub(/.*\//, "", name)
	document = name ~ /\.rst$/
	mark = ""
	inside = announced = 0
}

function plain(s)
{
	gsub(/\\e/, "\001", s)
	gsub(/\\&/, "", s)
	gsub(/\\-/, "-", s)
	gsub(/\\\(aq/, "'", s)
	gsub(/\\\(dq/, "\"", s)
	gsub(/\001/, "\\", s)
	return s
}

function give(kind, text,	reason)
{
	if (mark == "Ctrl-C") {
		kind = mark
	} else if (mark ~ /^not run: /) {
		kind = "not-run"
		reason = substr(mark, 10)
	} else if (mark != "" && mark != "none") {
		printf "%s:%d: unknown mark \"%s\"\n", name, FNR, mark > "/dev/stderr"
		failed = 1
	}
	if (mark != "none") {
		n++
		print text > (to "/" n)
		close(to "/" n)
		printf "%d\t%s:%d\t%s\t%s\n", n, name, line, kind, reason
	}
	mark = ""
}

function add(s)
{
	text = text (text == "" ? "" : "\n") s
}

# The end of a document's block. Where it has prompts, their lines are the commands.
function end_block(	count, i, lines, commands)
{
	inside = announced = 0
	count = split(text, lines, "\n")
	for (i = 1; i <= count; i++)
		if (lines[i] ~ /^\$ /)
			commands = commands (commands == "" ? "" : "\n") substr(lines[i], 3)
	if (commands != "")
		text = commands
	if (("\n" text) ~ /\n(sudo )?schedtape /)
		give("run", text)
	mark = ""
}

FNR == 1 {
	if (inside)
		end_block()
	begin_file()
}

/^(\.\\"|\.\.) example: / {
	mark = $0
	sub(/^[^ ]* example: /, "", mark)
	next
}

# -- documents

document && inside && /^[^ ]/ { end_block() }
document && inside {
	sub(/^  /, "")
	add($0)
	next
}
document && announced && /^  / {
	inside = 1
	line = FNR
	text = substr($0, 3)
	next
}
document && /^[^ ]/ { announced = /::$/ && !/^\.\. [a-z-]+::/ }
document { next }

# -- manual pages

/^\.Bd -literal/ {
	inside = 1
	line = FNR + 1
	text = ""
	next
}
/^\.Ed/ && inside {
	inside = 0
	give("run", text)
	next
}
inside {
	add(plain($0))
	next
}
/^\.Dl / {
	line = FNR
	give("run", plain(substr($0, 5)))
	next
}
/^\.Ql (schedtape [a-z]|[a-z]+ -)/ {
	line = FNR
	text = plain(substr($0, 5))
	sub(/( [.,:;)])+$/, "", text)
	if (text !~ /^schedtape /)
		text = "schedtape " text
	give("named", text)
}

END {
	if (inside)
		end_block()
	exit failed
}
