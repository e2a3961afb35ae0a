#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: the examples of README.rst and of the documents work as they are printed.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli}/lib/commands.sh"
. "${here%/cli}/lib/examples.sh"

prepare
try_all "$here"/../README.rst "$here"/../Documentation/*.rst
finish
