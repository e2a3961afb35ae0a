# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds the part in C against an installed libschedtape, or the one that PKG_CONFIG_PATH names."""
import glob
import os
import subprocess

from setuptools import Extension, setup
from wheel.bdist_wheel import bdist_wheel


def pkg_config(what):
    return subprocess.run(["pkg-config", what, "libschedtape"], check=True, capture_output=True,
                          text=True).stdout.split()


class StableWheel(bdist_wheel):
    """The part in C uses the stable interface of Python 3.11: one wheel is for all later ones."""

    def get_tag(self):
        _, _, platform = super().get_tag()
        return "cp311", "abi3", platform


setup(
    version=os.environ.get("SCHEDTAPE_VERSION") or subprocess.run(
        ["pkg-config", "--modversion", "libschedtape"], check=True, capture_output=True,
        text=True).stdout.strip(),
    ext_modules=[Extension(
        "schedtape._schedtape", sorted(glob.glob("*.c")),
        depends=glob.glob("*.h"),
        extra_compile_args=["-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra",
                            "-Wno-missing-field-initializers", *pkg_config("--cflags")],
        extra_link_args=pkg_config("--libs"),
        py_limited_api=True)],
    cmdclass={"bdist_wheel": StableWheel},
)
