#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Description: completion of commands, options, their values and tapes: by the function for bash, and
# as typed in bash, zsh and fish, as far as these are installed.

set -u
. "$(dirname "$(realpath "$0")")/lib.sh"
scripts=$top/user/completion
host=$top/selftests/host

# offered LINE: prints what the function offers for its last word, one word a line.
offered()
{
	# bash splits its words like this, and keeps the "=".
	bash --noprofile --norc -c '
		. "$1/schedtape.bash"
		COMP_LINE=$2 COMP_POINT=${#2} COMP_WORDS=() rest=$2
		while [[ $rest ]]; do
			rest=${rest#"${rest%%[! ]*}"} word=${rest%%[ =]*}
			[[ $word ]] || word=${rest::1}
			COMP_WORDS+=("$word") rest=${rest#"$word"}
		done
		[[ $2 != *" " ]] || [[ ${COMP_WORDS[-1]} = "" ]] || COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_schedtape
		printf "%s\n" "${COMPREPLY[@]}" | sort -u' - "$scripts" "$1"
}

# offers LINE WORD...: these words, and no others
offers()
{
	same "$(offered "$1")" "$(printf '%s\n' "${@:2}" | sort)"
}

help_commands()
{
	schedtape --help | sed -n 's/^  \([a-z]\+\) .*/\1/p'
}

all_commands()
{
	local commands

	mapfile -t commands < <(help_commands)
	echo "${#commands[@]} commands"
	[ ${#commands[@]} -gt 10 ] &&
		offers "schedtape " "${commands[@]}" help --help --no-pager --version &&
		offers "schedtape help " "${commands[@]}"
}

# Options of the usage end with "=" if they need an argument, and are offered both ways if they may
# have one.
all_options()
{
	local options

	mapfile -t options < <(schedtape "$1" --help |
		sed -n '1,/^$/d; s/^ \+\(-., \)\?\(--[a-z-]\+\)\([=[]\?\).*/\2\3/; s/^\(--.*\)\[$/\1\n\1=/; /^--/p')
	echo "${options[*]}"
	[ ${#options[@]} -ge 3 ] && offers "schedtape $1 --" "${options[@]}"
}

# Each option that can list its words offers these, after "=", after a blank, and in a list.
listed_values()
{
	local command option values n=0

	while read -r command option; do
		n=$((n + 1))
		mapfile -t values < <(schedtape "$command" "$option=help" | sed 's/ .*//')
		echo "$command $option: ${values[*]}"
		[ ${#values[@]} -gt 2 ] && offers "schedtape $command $option=" "${values[@]}" &&
			offers "schedtape $command $option " "${values[@]}" &&
			offers "schedtape $command $option ${values[0]}," "${values[@]/#/${values[0]},}" ||
			return
	done < <(for command in $(help_commands); do
		schedtape "$command" --help | tr -s '\n ' ' ' |
			grep -oP -- '--\K[a-z-]+(?==\S+ ((?! --).)*"help" lists)' | sed "s/^/$command --/"
	done)
	echo "$n options"
	[ "$n" -ge 10 ]
}

fixed_values()
{
	offers "schedtape latency --by=c" cgroup comm cpu &&
	offers "schedtape latency --by p" policy process &&
	offers "schedtape stat --by=c" cgroup comm cpu &&
	offers "schedtape map --color=" always auto never &&
	offers "schedtape record --color=" always auto never &&
	offers "schedtape why 1 on" one.tape &&
	offers "schedtape why --summary no" notes.txt &&
	offers "schedtape record --threads=" core cpu numa package &&
	offers "schedtape record -k " mono tsc &&
	offers "schedtape replay --burn=" time work &&
	offers "schedtape replay --exter" --external= &&
	offers "schedtape script -F cpu,+ti" cpu,+tid cpu,+time &&
	offers "schedtape steer 1 " pause players resume speed stop &&
	offers "schedtape filter 1 " add del set
}

tapes()
{
	offers "schedtape report " folder one.tape 'two 2.tape' &&
	offers "schedtape report -- " folder one.tape 'two 2.tape' &&
	offers "schedtape report --json on" one.tape &&
	offers "schedtape report -i on" one.tape &&
	offers "schedtape report --input=f" folder &&
	offers "schedtape diff one.tape tw" 'two 2.tape' &&
	offers "schedtape report no" notes.txt &&
	offers "schedtape report one.tape " '' &&
	offers "schedtape record -a -o on" one.tape &&
	offers "schedtape list " '' && offers "schedtape unknown " ''
}

other_command()
{
	offered "schedtape record -a -o x.tape -- schedt" | grep -x schedtape &&
	offered "schedtape record schedt" | grep -x schedtape &&
	offers "schedtape record cat no" notes.txt
}

# typed SHELL LINE EXPECTED LINE EXPECTED...: in an interactive one
typed()
{
	local shell=$1 lines=() expected=()

	shift
	while [ $# -gt 0 ]; do
		lines+=("$1") expected+=("$2")
		shift 2
	done
	same "$("$host/complete-in" "$shell" "$scripts" "${lines[@]}" |
		sed 's/ *$//; s|folder/ |folder |')" \
		"$(printf '%s\n' "${expected[@]}")"
}

bash_typed()
{
	typed bash 'schedtape rec' 'schedtape record recover' \
		'schedtape report --so' 'schedtape report --sort=' \
		'schedtape latency --by=c' 'schedtape latency --by=cgroup comm cpu' \
		'schedtape latency --by=po' 'schedtape latency --by=policy' \
		'schedtape report --sort=cpu,pre' 'schedtape report --sort=cpu,preempted' \
		'schedtape report --input=tw' 'schedtape report --input=two\ 2.tape' \
		'schedtape report f' 'schedtape report folder' \
		'schedtape record -- cat no' 'schedtape record -- cat notes.txt'
}

zsh_typed()
{
	zsh -n "$scripts/_schedtape" &&
	typed zsh 'schedtape rec' 'schedtape record recover' \
		'schedtape report --so' 'schedtape report --sort=' \
		'schedtape latency --by=c' 'schedtape latency --by=cgroup --by=comm --by=cpu' \
		'schedtape latency --by po' 'schedtape latency --by policy' \
		'schedtape report --sort=cpu,pre' 'schedtape report --sort=cpu,preempted' \
		'schedtape report ' 'schedtape report folder one.tape two\ 2.tape' \
		'schedtape report no' 'schedtape report notes.txt' \
		'schedtape report --input=tw' 'schedtape report --input=two\ 2.tape' \
		'schedtape script -e wakeup' 'schedtape script -e wakeup wakeup_new' \
		'schedtape record -- cat no' 'schedtape record -- cat notes.txt'
}

# bash-completion completes other commands by their own rules.
with_bash_completion()
{
	scripts=$T typed bash 'schedtape record -a --output=x -- cat --squee' \
		'schedtape record -a --output=x -- cat --squeeze-blank' \
		'schedtape report --so' 'schedtape report --sort='
}

# fish prints only the last words.
fish_typed()
{
	fish -n "$scripts/schedtape.fish" &&
	typed fish 'schedtape rec' 'record recover' \
		'schedtape report --so' '--sort=' \
		'schedtape latency --by=c' '--by=cgroup --by=comm --by=cpu' \
		'schedtape latency --by po' 'policy' \
		'schedtape report --sort=cpu,pre' '--sort=cpu,preempted' \
		'schedtape report ' 'folder one.tape two 2.tape' \
		'schedtape report no' 'notes.txt' \
		'schedtape report --input=tw' '--input=two 2.tape' \
		'schedtape script -e wakeup' 'wakeup wakeup_new' \
		'schedtape record -- cat no' 'notes.txt'
}

make_folder
echo "TAP version 13"
check "make" make -s -C "$top" all || { finish; }
PATH=$build:$PATH
mkdir -p "$T/here/folder" && cd "$T/here" && touch one.tape 'two 2.tape' notes.txt
check "all commands" all_commands
for command in $(help_commands); do
	check "$command: all options of its usage" all_options "$command"
done
check "options that list their words with \"help\"" listed_values
check "options and arguments with a few words" fixed_values
check "tapes, folders, and other files if there are none of these" tapes
check "record: its command, and files for that" other_command
check "bash: typed" bash_typed
if [ -e /usr/share/bash-completion/bash_completion ]; then
	{ echo . /usr/share/bash-completion/bash_completion; cat "$scripts/schedtape.bash"; } > \
		"$T/schedtape.bash"
	check "bash: typed, with bash-completion" with_bash_completion
else
	skip "bash: typed, with bash-completion" "the package is not installed"
fi
for shell in zsh fish; do
	if command -v $shell > /dev/null; then
		check "$shell: typed" ${shell}_typed
	else
		skip "$shell: typed" "the package $shell is not installed"
	fi
done
finish
