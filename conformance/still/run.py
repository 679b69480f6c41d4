"""Runs every command on the kept plant and writes its exit code and output, or compares them with golden files.

Left out, since no two runs agree:
- bytes of new ciphertexts, evaluation keys, secrets, certificates: drawn at random; their sizes are kept
- the last digits of approximate results (CKKS), in groups of that name: noise of new evaluation keys. They may differ
  by TOLERANCE from the golden file
- `sotto demo` and `sotto-agent sources` on this machine's sensors: readings of the machine
- `sotto keys recryptor`: seconds of search for primes
- `sotto verify --every`, `sotto watch` without --once: they run until they are stopped
- the cloud's log: concurrent requests, in no fixed order
- sizes of cloud.sqlite, and of backups with it: pages; its rows and schema are kept
"""

import argparse
import difflib
import pathlib
import shutil
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import agents
import plants
import questions
import requests
import services
import stored
from house import GOLDEN, House, settled


def everything(house):
    services.helps(house)
    house.environment["SOTTO_PLANT"] = str(house.folder / "plant")
    house.start("plant")
    house.start("fleet")
    listed = requests.reading(house)
    requests.sums(house, listed)
    requests.uploads(house, listed)
    questions.owner(house)
    questions.asking(house)
    questions.refusing(house)
    questions.planning(house)
    services.services(house)
    agents.formats(house)
    agents.devices(house)
    plants.alarms(house)
    plants.declaring(house)
    plants.making(house)
    questions.keeping(house)
    requests.keys(house)
    plants.losing(house, plants.LOST)
    plants.forgetting(house)
    house.stop("plant")
    house.stop("fleet")
    plants.losing(house, plants.LOST_AWAY)
    stored.stored(house)
    services.away(house)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder of sotto, sotto-agent, sotto-cloud")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--write", action="store_true", help="write the golden files")
    action.add_argument(
        "--check", action="store_true", help="print differences; exit code 1 if there are any (default)"
    )
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="still-"))
    begin = time.monotonic()
    house = House(arguments.bin.resolve(), folder)
    try:
        everything(house)
    finally:
        house.close()
        shutil.rmtree(folder, ignore_errors=True)
    now = {f"{name}.txt": "\n".join(parts) for name, parts in house.golden.items()}
    for name in now:
        if name.endswith("-approximate.txt") and (GOLDEN / name).exists():
            now[name] = settled(now[name], (GOLDEN / name).read_text())
    if arguments.write:
        shutil.rmtree(GOLDEN, ignore_errors=True)
        GOLDEN.mkdir()
        for name, text in now.items():
            (GOLDEN / name).write_text(text)
    kept = {path.name: path.read_text() for path in GOLDEN.glob("*.txt")}
    differences = 0
    for name in sorted(now.keys() | kept.keys()):
        lines = list(
            difflib.unified_diff(
                kept.get(name, "").splitlines(),
                now.get(name, "").splitlines(),
                f"golden/{name}",
                f"now/{name}",
                lineterm="",
            )
        )
        differences += bool(lines)
        if lines:
            print("\n".join(lines))
    count = sum(map(len, house.golden.values()))
    print(
        f"{count} commands and files, {differences} of {len(now)} golden files differ, {time.monotonic() - begin:.0f} s",
        file=sys.stderr,
    )
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()
