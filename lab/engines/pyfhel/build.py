"""Builds Pyfhel from its source package. Its build clones what SEAL can do without (GSL, zlib, Zstandard), unless it is told
not to: serialisation is then without compression. Takes a C++ compiler, cmake and some minutes."""

import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

VERSION = "3.5.0"


def pip(*words):
    subprocess.run([sys.executable, "-m", "pip", *words, "--no-input", "--no-deps", "--no-build-isolation"], check=True)


def main():
    fetched, source = Path("fetched"), Path("source")
    for folder in (fetched, source):
        shutil.rmtree(folder, ignore_errors=True)
    pip("download", "--no-binary", "Pyfhel", "--dest", str(fetched), f"Pyfhel=={VERSION}")
    with tarfile.open(next(fetched.iterdir())) as archive:
        archive.extractall(source, filter="data")
    package = next(source.iterdir())
    configuration = package / "pyproject.toml"
    text, count = re.subn(r"(SEAL_USE_(?:MSGSL|ZLIB|ZSTD)\s*=\s*)'ON'", r"\1'OFF'", configuration.read_text())
    if count != 3:
        raise SystemExit("the build configuration is not what it was: three switches are expected")
    configuration.write_text(text)
    pip("install", str(package))


if __name__ == "__main__":
    main()
