"""Builds Pyfhel from its source package, without the optional libraries that the build would clone (GSL, zlib,
Zstandard). If the system has zlib with its header, SEAL is built with it, and the file `codecs` says so; otherwise
serialisation does not compress. Needs a C++ compiler, cmake and some minutes."""

import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

VERSION = "3.5.0"


def pip(*words):
    subprocess.run([sys.executable, "-m", "pip", *words, "--no-input", "--no-deps", "--no-build-isolation"], check=True)


def has_zlib():
    """Returns true if a program with zlib compiles and links."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "zlib.cpp"
        source.write_text("#include <zlib.h>\nint main() { return zlibVersion()[0] == 0; }\n")
        words = ["c++", str(source), "-o", str(Path(folder) / "zlib"), "-lz"]
        try:
            return subprocess.run(words, capture_output=True).returncode == 0
        except OSError:
            return False


def configured(text, zlib):
    """Returns the build configuration with the cloned libraries switched off, and the system's zlib on if there is
    one."""
    text, count = re.subn(r"(SEAL_USE_(?:MSGSL|ZLIB|ZSTD)\s*=\s*)'ON'", r"\1'OFF'", text)
    if count != 3:
        raise SystemExit("the build configuration has changed: three switches are expected")
    if zlib:
        text = re.sub(r"(SEAL_USE_ZLIB\s*=\s*)'OFF'", r"\1'ON'\n    SEAL_BUILD_DEPS = 'OFF'", text)
        # SEAL is a static library, so that its user must link zlib too.
        text = text.replace("libraries = ['SEAL']", "libraries = ['SEAL', 'z']")
        text = re.sub(r'(\{Linux = \["-Wl,-rpath=\$ORIGIN/\.", "-fopenmp")\]', r'\1, "-lz"]', text)
    return text


def main():
    fetched, source, codecs = Path("fetched"), Path("source"), Path("codecs")
    for folder in (fetched, source):
        shutil.rmtree(folder, ignore_errors=True)
    codecs.unlink(missing_ok=True)
    pip("download", "--no-binary", "Pyfhel", "--dest", str(fetched), f"Pyfhel=={VERSION}")
    archive = next(fetched.iterdir())
    zlib = has_zlib()
    for compressed in (True, False) if zlib else (False,):
        shutil.rmtree(source, ignore_errors=True)
        with tarfile.open(archive) as content:
            content.extractall(source, filter="data")
        package = next(source.iterdir())
        configuration = package / "pyproject.toml"
        configuration.write_text(configured(configuration.read_text(), compressed))
        try:
            pip("install", "--force-reinstall", str(package))
            subprocess.run([sys.executable, "-c", "import Pyfhel"], check=True)
        except subprocess.CalledProcessError:
            if not compressed:
                raise
            print("the build with zlib failed: building without zlib")
            continue
        codecs.write_text("zlib" if compressed else "")
        return


if __name__ == "__main__":
    main()
