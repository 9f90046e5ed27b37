#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the recipes for package managers that are not here: read_recipes.py ROOT

Each names nigh's version, names only options that nigh's build has, and is what its package manager can parse:
Python whose directives are those of Spack, YAML after conda's templates, JSON for vcpkg.
"""
import json
import pathlib
import re
import sys
import types

import yaml

ROOT = pathlib.Path(sys.argv[1])
VERSION = re.search(r"project\(nigh VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)
OPTIONS = {option for file in [ROOT / "CMakeLists.txt", *(ROOT / "cmake").glob("*.cmake")]
           for option in re.findall(r"option\((NIGH_\w+)", file.read_text(encoding="utf-8"))}


def text(path):
    return (ROOT / "packaging" / path).read_text(encoding="utf-8")


def check(is_right, what):
    if not is_right:
        sys.exit(f"read_recipes.py: {what}")


def check_options():
    for path in sorted((ROOT / "packaging").rglob("*")):
        if path.is_file():
            unknown = set(re.findall(r"\bNIGH_[A-Z]+\b", path.read_text(encoding="utf-8"))) - OPTIONS
            check(not unknown, f"{path}: nigh has no option {unknown}")


def check_spack():
    """The class is made, with stand-ins for Spack's directives; each dependency and variant is noted."""
    said = []

    class When:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return False

    def directive(name):
        return lambda *args, **how: said.append((name, args, how))

    class CMakePackage:
        def define(self, name, value):
            return f"-D{name}={value}"

        def define_from_variant(self, name, variant):
            check(any(said_name == "variant" and args[0] == variant for said_name, args, _ in said),
                  f"Spack: no variant {variant}")
            return self.define(name, "ON")

    package = types.ModuleType("spack.package")
    for name in ("license", "version", "variant", "depends_on", "requires", "conflicts", "generator"):
        setattr(package, name, directive(name))
    package.when = lambda _: When()
    modules = {"spack": types.ModuleType("spack"), "spack.package": package}
    for name in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        modules[name] = types.ModuleType(name)
    cmake = types.ModuleType("spack_repo.builtin.build_systems.cmake")
    cmake.CMakePackage = CMakePackage
    modules[cmake.__name__] = cmake
    sys.modules.update(modules)
    scope = {}
    exec(compile(text("spack/packages/nigh/package.py"), "package.py", "exec"), scope)  # pylint: disable=exec-used
    arguments = scope["Nigh"]().cmake_args()
    dependencies = [args[0] for name, args, _ in said if name == "depends_on"]
    check("hwloc@2.5:" in dependencies, "Spack: hwloc is missing")
    check(yaml.safe_load(text("spack/repo.yaml"))["repo"]["namespace"] == "nigh", "Spack: repo.yaml")
    print(f"Spack: {len(dependencies)} dependencies, {' '.join(arguments)}")


def check_conda():
    """With words in the place of conda's functions; lines for other systems are left out as conda does."""
    page = re.sub(r"{% set (\w+) = \"([^\"]+)\" %}\n", "", text("conda/meta.yaml"))
    check(f'set version = "{VERSION}"' in text("conda/meta.yaml"), "conda: version")
    page = "\n".join(line for line in page.split("\n") if not line.endswith("# [not linux]"))
    page = page.replace("{{ version }}", VERSION)
    page = re.sub(r'{{ "([^"]*)" }}', r"\1", page)
    page = re.sub(r'{{ (?:compiler|stdlib|pin_subpackage)\("(\w+)".*?\) }}', r"\1", page)
    check("{{" not in page, "conda: an unknown function")
    recipe = yaml.safe_load(page)
    check(recipe["package"] == {"name": "nigh", "version": VERSION}, "conda: name and version")
    folder = (ROOT / "packaging/conda" / recipe["source"]["path"]).resolve()
    check((folder / "CMakeLists.txt").is_file(), "conda: the source is elsewhere")
    print(f"conda: {len(recipe['requirements']['host'])} dependencies, {len(recipe['test']['commands'])} commands to test")


def check_versions():
    check(json.loads(text("vcpkg/vcpkg.json"))["version"] == VERSION, "vcpkg: version")
    check(text("debian/changelog").startswith(f"nigh ({VERSION}-"), "Debian: version")
    names = [path.name for path in (ROOT / "packaging/easybuild").glob("*.eb")]
    check(names and all(name.startswith(f"nigh-{VERSION}-") for name in names), "EasyBuild: name")
    check(all(f"version = '{VERSION}'" in text(f"easybuild/{name}") for name in names), "EasyBuild: version")


check_options()
check_spack()
check_conda()
check_versions()
