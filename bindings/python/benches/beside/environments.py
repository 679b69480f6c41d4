"""Python environments of the libraries: those of the benchmark lab, or new ones."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

#: Recipes of the lab: the packages of each library, and how Pyfhel is built.
RECIPES = Path(__file__).resolve().parents[4] / "lab" / "engines"
#: OpenFHE's wheel is for this version of Python.
OPENFHE_PYTHON = "3.10"

HOW = {
    "tenseal": "`run.py --install` or `sotto-lab install tenseal`",
    "pyfhel": "`run.py --install` or `sotto-lab install pyfhel` (a C++ compiler, cmake; minutes)",
    "openfhe": "`run.py --install` or `sotto-lab install openfhe` (Python 3.10 on the PATH)",
}


def cache() -> Path:
    """Return the folder for files that can be made again, the same as the lab's."""
    if folder := os.environ.get("SOTTO_CACHE"):
        return Path(folder)
    if folder := os.environ.get("XDG_CACHE_HOME"):
        return Path(folder) / "sotto"
    return Path.home() / ".cache" / "sotto"


def python_of(library: str) -> Path | None:
    """Return the interpreter that imports a library, or None."""
    if library == "sotto":
        return Path(sys.executable)
    for folder in (cache() / "engines" / library, cache() / "python-beside" / library):
        if (folder / "complete").is_file() and (folder / "venv/bin/python").is_file():
            return folder / "venv/bin/python"
    return None


def install(library: str) -> Path:
    """Install a library into an environment of its own, as the lab does."""
    if found := python_of(library):
        return found
    folder = cache() / "python-beside" / library
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    python = folder / "venv/bin/python"
    interpreter = _python_3_10() if library == "openfhe" else "python3"
    requirements = RECIPES / library / "requirements.txt"
    subprocess.run([interpreter, "-m", "venv", str(folder / "venv")], check=True)
    pip = [str(python), "-m", "pip", "install", "--no-input", "--quiet"]
    subprocess.run([*pip, "numpy", "-r", str(requirements)], check=True)
    if library == "pyfhel":
        # The recipe writes its sources into the working folder.
        build = [str(python), str(RECIPES / library / "build.py")]
        subprocess.run(build, check=True, cwd=folder, stdout=sys.stderr)
    (folder / "complete").touch()
    return python


def _python_3_10() -> str:
    name = f"python{OPENFHE_PYTHON}"
    try:
        subprocess.run([name, "--version"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        found = subprocess.run(
            ["pyenv", "prefix", OPENFHE_PYTHON], capture_output=True, text=True, check=False
        )
        if found.returncode == 0:
            return str(Path(found.stdout.strip()) / "bin" / name)
    return name
