# SPDX-License-Identifier: GPL-2.0-only
# Completion of schedtape for fish. The program itself knows the words: "schedtape --complete".

# Prints tapes: *.tape and folders, which may be tapes; other files, if there are none of these.
function __schedtape_tapes
    set -l files (complete -C "__schedtape_no_command $argv[1]")
    set -l tapes (string match -r '^[^\t]*(?:\.tape|\.tape\.[0-9]+T[0-9.]+Z|/)(?:\t.*)?$' -- $files)
    set -q tapes[1]; or set tapes $files
    printf '%s\n' $tapes
end

function __schedtape_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l prefix
    for answer in ($words[1] --complete $words[2..] "$current" 2>/dev/null)
        switch $answer
            case ':prefix *'
                set prefix (string replace ':prefix ' '' -- $answer)
            case ':tapes'
                set -l name (string sub -s (math (string length -- "$prefix") + 1) -- "$current")
                for tape in (__schedtape_tapes $name)
                    echo "$prefix$tape"
                end
            case ':command *'
                # Word N of the program is the first one of the command; fish counts from 1.
                set -l first (math (string replace ':command ' '' -- $answer) + 1)
                complete -C (string join ' ' -- (string escape -- $words[$first..]) "$current")
            case '*'
                echo "$prefix"(string replace -r ' +' \t -- $answer)
        end
    end
end

complete -c schedtape -f -a '(__schedtape_complete)'
