#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the tests of numa and of plans with the oldest hwloc that coset takes and with Debian's newest, and runs them.

usage: hwloc_versions.py FOLDER [PREFIX]…

Packages are downloaded from wherever apt has its own, and unpacked into FOLDER; nothing is installed. A PREFIX is where one
more hwloc is installed, such as one that Debian does not have. Exit status: 1 if a test fails with one of them; 77 if none does,
and packages of one cannot be had.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

SOURCES = pathlib.Path(__file__).resolve().parents[2]
SUITES = ["bullseye", "sid"]  # hwloc 2.4 and the newest
ROOMS = ["numa", "plan"]
OPTIONS = ["CMAKE_BUILD_TYPE=Release", "COSET_BUILD_TESTS=ON", "COSET_KERNEL_TARGETS=few", "COSET_UNITY=ON", "COSET_LAB=OFF",
           "COSET_BUILD_TOOLS=OFF", "COSET_FORTRAN=off", "COSET_PYTHON=off"]


def downloaded(suite, apt):
    """The files of the suite's hwloc and C library, by an apt of its own that knows this suite alone."""
    mirror = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Label: Debian"],
                            stdout=subprocess.PIPE, text=True, check=False).stdout.splitlines()
    if not mirror:
        return []
    (apt / "lists" / "partial").mkdir(parents=True)
    (apt / "status").touch()
    (apt / "sources.list").write_text(f"deb {mirror[0]} {suite} main\n", encoding="utf-8")
    options = ["APT::Sandbox::User=root", f"Dir::Etc::SourceList={apt}/sources.list", "Dir::Etc::SourceParts=-",
               f"Dir::State={apt}", f"Dir::State::Lists={apt}/lists", f"Dir::State::status={apt}/status", f"Dir::Cache={apt}"]

    def said(tool, *words):
        with (apt / "log").open("a", encoding="utf-8") as log:
            return subprocess.run([tool, "-q", *(word for option in options for word in ("-o", option)), *words], cwd=apt,
                                  check=False, stdout=subprocess.PIPE, stderr=log, text=True).stdout

    said("apt-get", "update")
    libraries = re.findall(r"Depends: (libhwloc\S+)", said("apt-cache", "depends", "libhwloc-dev"))
    said("apt-get", "download", "libhwloc-dev", *libraries, "libc6")
    return sorted(apt.glob("*.deb"))


def unpacked(suite, folder):
    """The prefix of the suite's hwloc and the flags to link with it; or nothing."""
    shutil.rmtree(folder, ignore_errors=True)
    files = downloaded(suite, folder / "apt")
    root = folder / "root"
    here = [int(number) for number in os.confstr("CS_GNU_LIBC_VERSION").split()[1].split(".")]
    loader = []
    for file in files:
        # A library made for a newer C library than this system's is loaded together with that.
        of_c = re.match(r"libc6_(\d+)\.(\d+)", file.name)
        is_newer = of_c and [int(number) for number in of_c.groups()] > here
        if file.name.startswith("libhwloc") or is_newer:
            subprocess.run(["dpkg-deb", "-x", file, root], check=True)
        if is_newer:
            library = next(root.glob("usr/lib/*/ld-linux*"))
            loader = [f"-Wl,--dynamic-linker={library},--disable-new-dtags,-rpath,{library.parent},--allow-shlib-undefined"]
    for description in root.glob("usr/lib/*/pkgconfig/hwloc.pc"):
        description.write_text(re.sub("(?m)^prefix=.*", f"prefix={root}/usr", description.read_text(encoding="utf-8")),
                               encoding="utf-8")
        return root / "usr", loader
    return None


def passes(folder, prefix, link):
    """Whether the tests do with the hwloc of this prefix."""
    places = [str(place.parent) for place in prefix.glob("lib/**/hwloc.pc")]
    environment = os.environ | {"PKG_CONFIG_PATH": ":".join(places), "COSET_TUNING": "off"}
    version = subprocess.run(["pkg-config", "--modversion", "hwloc"], stdout=subprocess.PIPE, text=True, env=environment,
                             check=True).stdout.strip()
    print(f"== hwloc {version}", flush=True)
    build = folder / f"build-{version}"
    commands = [["cmake", "-S", SOURCES, "-B", build, "-G", "Ninja", *(f"-D{option}" for option in OPTIONS),
                 f"-DCMAKE_EXE_LINKER_FLAGS={' '.join(link)}"],
                ["cmake", "--build", build, "--target", *(f"tests/{room}/all" for room in ROOMS)],
                *(["ctest", "--test-dir", build / "tests" / room, "--output-on-failure", "--no-tests=error"] for room in ROOMS)]
    return all(subprocess.run(command, env=environment, check=False).returncode == 0 for command in commands)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("prefix", type=pathlib.Path, nargs="*")
    options = parser.parse_args()
    folder = options.folder.resolve()
    found = [(prefix.resolve(), []) for prefix in options.prefix]
    missing = False
    for suite in SUITES:
        one = unpacked(suite, folder / suite)
        if one:
            found.append(one)
        else:
            missing = True
            print(f"there is no hwloc of {suite} to be had; {folder / suite / 'apt' / 'log'} may say why", flush=True)
    if not all([passes(folder, *one) for one in found]):
        sys.exit(1)
    sys.exit(77 if missing else 0)


if __name__ == "__main__":
    main()
