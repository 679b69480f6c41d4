"""The Python package of a checkout in the environment that runs this, without building it.

    package.py requirements PACKAGE
    package.py remove
    package.py place PACKAGE LIBRARY VERSION
"""

import compileall
import importlib.machinery
import pathlib
import shutil
import sys
import sysconfig

try:
    import tomllib
except ImportError:  # Python 3.10
    from pip._vendor import tomli as tomllib

SITE = pathlib.Path(sysconfig.get_path("platlib"))


def requirements(package):
    """Prints the packages that this one and its tests need, one a line."""
    project = tomllib.loads(pathlib.Path(package, "pyproject.toml").read_text())["project"]
    print(*project["dependencies"], *project["optional-dependencies"]["test"], sep="\n")


def remove():
    """Removes an earlier copy: no module outlives its source, and pip finds no package that it did not install."""
    for folder in [SITE / "sotto", *SITE.glob("sotto_he-*.dist-info")]:
        shutil.rmtree(folder, ignore_errors=True)


def place(package, library, version):
    """Copies the sources and the compiled part to where pip puts them."""
    remove()
    sotto = SITE / "sotto"
    shutil.copytree(pathlib.Path(package, "python/sotto"), sotto, ignore=shutil.ignore_patterns("__pycache__"))
    suffix = next(end for end in importlib.machinery.EXTENSION_SUFFIXES if end in (".abi3.so", ".pyd"))
    shutil.copyfile(library, sotto / f"_native{suffix}")
    compileall.compile_dir(sotto, quiet=1)
    # The tests compare the version of the compiled part with that of the distribution.
    described = SITE / f"sotto_he-{version}.dist-info"
    described.mkdir()
    (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: sotto-he\nVersion: {version}\n")


{step.__name__: step for step in (requirements, remove, place)}[sys.argv[1]](*sys.argv[2:])
