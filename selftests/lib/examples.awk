# SPDX-License-Identifier: GPL-2.0-only
# examples.awk - take the examples out of manual pages (mdoc) and documents (reStructuredText)
#
# Usage: awk -v to=DIR -f examples.awk FILE...
#
# Writes the text of the Nth example to DIR/N, and prints a line for each:
#	N TAB FILE:LINE TAB KIND TAB REASON
#
# Of a manual page, each .Dl line and each .Bd -literal block is an example, and so is each .Ql
# that names a command of schedtape. In a document, a literal block is an example if a line of it
# begins with "schedtape", "sudo schedtape" or "python3", and so is ``schedtape COMMAND``. If
# some of its lines begin with "$ ", these are the commands, with the lines that continue them
# after a backslash, and the other lines are output. An example with the same text as an earlier
# one is left out. KIND is
#	run	to be run
#	Ctrl-C	to be run until the user interrupts it
#	not-run	not to be run, for the REASON
#	named	a command in .Ql or ``, inside a sentence
#
# A comment before an example sets its kind. In a document it begins with ".. ":
#	.\" example: Ctrl-C
#	.\" example: not run: REASON
#	.\" example: none		output, or something else that is no command

function fail(message)
{
	printf "%s: %s\n", name, message > "/dev/stderr"
	failed = 1
}

# A mark holds for the next example, which has to be on the same page.
function end_mark()
{
	if (mark != "" && mark != "none")
		fail("mark \"" mark "\" is before no example")
	mark = ""
}

function begin_file()
{
	end_mark()
	name = FILENAME
	sub(/.*\//, "", name)
	document = name ~ /\.rst$/
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
		fail("unknown mark \"" mark "\" in line " FNR)
	}
	if (mark != "none" && !(kind == "run" && text in seen)) {
		n++
		if (kind == "run")
			seen[text] = 1
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
	sub(/\n+$/, "", text)
	count = split(text, lines, "\n")
	for (i = 1; i <= count; i++)
		if (lines[i] ~ /^\$ /)
			commands = commands (commands == "" ? "" : "\n") substr(lines[i], 3)
		else if (i > 1 && lines[i - 1] ~ /\\$/)
			commands = commands "\n" lines[i]
	if (commands != "")
		text = commands
	if (("\n" text) ~ /\n((sudo )?schedtape|python3) /)
		give("run", text)
	end_mark()
}

FNR == 1 {
	if (inside)
		end_block()
	begin_file()
}

/^(\.\\"|\.\.) example: / {
	if (document && inside)
		end_block()
	mark = $0
	sub(/^[^ ]* example: /, "", mark)
	next
}

# -- documents

document && inside && /^[^ ]/ { end_block() }
document && inside {
	add(substr($0, indent + 1))
	next
}
document && announced && /^  / {
	inside = 1
	line = FNR
	match($0, /^ +/)
	indent = RLENGTH
	text = substr($0, indent + 1)
	next
}
document && /^[^ ]/ { announced = /::$/ && !/^\.\. [a-z-]+::/ }
document {
	line = FNR
	while (mark == "" && match($0, /``schedtape [a-z][^`]*``/)) {
		text = substr($0, RSTART + 2, RLENGTH - 4)
		$0 = substr($0, RSTART + RLENGTH)
		give("named", text)
	}
	next
}

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
	end_mark()
	exit failed
}
