# SPDX-License-Identifier: GPL-2.0-only
# json-keys.awk - make schedtape-json(5) from its frame and from comments of the commands
#
# Usage: awk -f json-keys.awk schedtape-json.5.in FILE.c...
#
# A comment beside the code that prints keys says what they mean:
#
#	* JSON of report:
#	* @tasks: A list of tasks, in the order of the table.
#
#	* JSON cpus[] of report, info:
#	* @lost_first_ns, @lost_last_ns: Times of its first and last missing event.
#	*	A text may go on in lines that begin with a tab. It may name --options, @keys,
#	*	pages(1) and "words".
#
# The second one is of the objects in the list "cpus" of two commands. In the frame, a line "@report"
# stands for all keys of a command, in the order of the files: those of a list or an object come
# behind its own key. Only the first of several commands has the texts.

function fail(message)
{
	printf "json-keys: %s\n", message > "/dev/stderr"
	failed = 1
}

# Prints words as mdoc: a sentence a line, and a macro a line.
function put(text,	words, count, i, word, end, line)
{
	count = split(text, words, " ")
	line = ""
	for (i = 1; i <= count; i++) {
		word = words[i]
		if (word ~ /^"/)
			while (word !~ /.".?$/ && i < count)
				word = word " " words[++i]
		end = ""
		if (match(word, /[,.;:)]$/) && word ~ /^["@-].|^[a-z-]+\([1-8]\)./) {
			end = " " substr(word, RSTART)
			word = substr(word, 1, RSTART - 1)
		}
		if (word ~ /^".*"$/) {
			word = substr(word, 2, length(word) - 2)
			word = ".Dq " (word ~ /^[?.]/ ? "\\&" : "") word
		} else if (word ~ /^--?[A-Za-z]/) {
			word = ".Fl " substr(word, 2)
		} else if (word ~ /^@/) {
			word = ".Va " substr(word, 2)
		} else if (word ~ /^[a-z-]+\([1-8]\)$/) {
			sub(/\(/, " ", word)
			word = ".Xr " substr(word, 1, length(word) - 1)
		}
		if (word ~ /^\./) {
			if (line != "")
				print line
			print word end
			line = ""
			continue
		}
		line = line (line == "" ? "" : " ") word
		if (word ~ /[.:]$/ || i == count) {
			print line
			line = ""
		}
	}
}

# Prints the keys of an object, and what lies below each of them. @path: of the object, or "".
function give(command, path,	b, k, key, first)
{
	for (b = 1; b <= blocks; b++) {
		if (!((b, command, path) in of))
			continue
		first = path == "" && b in given
		for (k = 1; k <= keys[b]; k++) {
			key = (path == "" ? "" : path ".") names[b, k]
			print ".It Va " key
			if (first && k == 1)
				print "As in " given[b] ", like the next ones."
			else if (!(b in given) && texts[b, k] != "")
				put(texts[b, k])
			give(command, key)
			give(command, key "[]")
		}
		if (!(b in given))
			given[b] = command
	}
}

# Begins a block. "JSON a, b of diff:" is of two objects of one command.
function begin(heading,	half, paths, commands, i, j)
{
	sub(/:$/, "", heading)
	split(heading, half, /(^| )of /)
	if (half[1] == "")
		paths[1] = ""
	else
		split(half[1], paths, ", ")
	split(half[2], commands, ", ")
	blocks++
	for (i in paths)
		for (j in commands)
			of[blocks, commands[j], paths[i]] = 1
	where[blocks] = FILENAME ": JSON " heading
	open = 1
}

FILENAME ~ /\.in$/ {
	frame[++lines] = $0
	next
}

FNR == 1 { open = 0 }
/^ \* JSON .*:$/ {
	begin(substr($0, 9))
	next
}
# The text is that of the line's last key.
open && /^ \* @[a-z0-9_]+(, @[a-z0-9_]+)*:/ {
	for (i = 2; $i ~ /^@/; i++)
		names[blocks, ++keys[blocks]] = substr($i, 2, length($i) - 2)
	sub(/^[^:]*: ?/, "")
	texts[blocks, keys[blocks]] = $0
	next
}
open && /^ \*\t/ {
	sub(/^ \*\t/, " ")
	texts[blocks, keys[blocks]] = texts[blocks, keys[blocks]] $0
	next
}
{ open = 0 }

END {
	for (i = 1; i <= lines; i++) {
		if (frame[i] !~ /^@/) {
			print frame[i]
			continue
		}
		print ".Bl -tag -width Ds -compact"
		give(substr(frame[i], 2), "")
		print ".El"
	}
	for (b = 1; b <= blocks; b++)
		if (!(b in given))
			fail(where[b] ": the page has no such place")
	exit failed
}
