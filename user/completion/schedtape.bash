# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Completion of schedtape for bash. The program itself knows the words: "schedtape --complete".

# Sets words to those up to the cursor, and begins to the number of each for bash, which has split
# them at "=" and ":", too.
_schedtape_words()
{
	local line=${COMP_LINE:0:COMP_POINT} word i

	words=() begins=()
	for ((i = 0; i <= COMP_CWORD; i++)); do
		if ((i == 0)) || [[ $line == [[:blank:]]* ]]; then
			words+=("") begins+=("$i")
			line=${line#"${line%%[![:blank:]]*}"}
		fi
		word=${COMP_WORDS[i]}
		((i < COMP_CWORD)) || word=$line
		words[${#words[@]} - 1]+=$word
		line=${line#"$word"}
	done
}

# Adds tapes: *.tape, those of "record --switch-output" (*.tape.20261127T124501.123456Z), and folders,
# which may be tapes; other files, if there are none of these.
_schedtape_tapes()
{
	local files

	compopt -o filenames 2> /dev/null
	mapfile -t files < <(compgen -f -X '!*.tape' -- "$1"
		compgen -f -X '!*.tape.*T*.*Z' -- "$1"; compgen -d -- "$1")
	[ ${#files[@]} -gt 0 ] || mapfile -t files < <(compgen -f -- "$1")
	[ ${#files[@]} -eq 0 ] || COMPREPLY+=("${files[@]/#/$prefix}")
}

# Another command, from word $1 on: bash-completion completes it if it is there.
_schedtape_command()
{
	if declare -F _command_offset > /dev/null; then
		_command_offset "${begins[$1]}"
	elif ((${#words[@]} == $1 + 1)); then
		mapfile -t COMPREPLY < <(compgen -c -- "$current")
	else
		compopt -o filenames 2> /dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
	fi
}

_schedtape()
{
	local words begins current before prefix='' answer

	COMPREPLY=()
	_schedtape_words
	current=${words[${#words[@]} - 1]}
	while IFS= read -r answer; do
		case $answer in
		':prefix '*) prefix=${answer#:prefix } ;;
		:tapes) _schedtape_tapes "${current#"$prefix"}" ;;
		':command '*) _schedtape_command "${answer#:command }"; return ;;
		*)
			answer=$prefix${answer%% *}
			[[ $answer != "$current"* ]] || COMPREPLY+=("$answer")
			;;
		esac
	done < <("${words[0]/#\~\//$HOME/}" --complete "${words[@]:1}" 2> /dev/null)

	# bash replaces only what follows the last "=" or ":".
	before=${current%"${current##*[=:]}"}
	COMPREPLY=("${COMPREPLY[@]#"$before"}")
	[[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2> /dev/null
}

complete -F _schedtape schedtape
