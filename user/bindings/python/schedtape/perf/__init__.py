# SPDX-License-Identifier: LGPL-2.1-or-later
"""Modules that scripts for perf import by these names. schedtape.script adds them to sys.path."""
