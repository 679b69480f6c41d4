"""Runs twenty tasks with sotto, TenSEAL, Pyfhel and OpenFHE's Python; prints a Markdown table.

    python bindings/python/benches/beside/run.py [--install] [--rounds 7] [--markdown FILE]

Every library runs in a process of its own on one core, a round of a task with all libraries in
turn. Figures are medians over the rounds. Every answer is checked in the clear. `--install` makes
the environments that are missing, in the cache folder.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import Any

from environments import HOW, install, python_of
from lines import lines_of
from tasks import TASKS

HERE = Path(__file__).resolve().parent
LIBRARIES = {"sotto": "sotto", "tenseal": "TenSEAL", "pyfhel": "Pyfhel", "openfhe": "OpenFHE"}
#: Variables that say how many threads a library may use.
THREADS = ("OMP_NUM_THREADS", "RAYON_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
Result = dict[str, Any]


class Worker:
    """The process of a library."""

    def __init__(self, library: str, python: Path) -> None:
        """Start it."""
        environment = os.environ | dict.fromkeys(THREADS, "1")
        if library != "sotto":
            environment.pop("PYTHONPATH", None)
        self._process = subprocess.Popen(
            [str(python), str(HERE / "worker.py"), library],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def run(self, name: str) -> Result:
        """Run a task once."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(name + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"the process of a library ended in the task {name}")
        result: Result = json.loads(line)
        return result

    def end(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def measured(workers: dict[str, Worker], rounds: int) -> dict[str, dict[str, Result]]:
    """Return the results by task and library: medians, the largest error of any round."""
    found: dict[str, dict[str, Result]] = {}
    for name in TASKS:
        # The first round makes keys and fills caches.
        keys = {library: worker.run(name) for library, worker in workers.items()}
        turns = [{lib: worker.run(name) for lib, worker in workers.items()} for _ in range(rounds)]
        found[name] = {}
        for library in workers:
            results = [turn[library] for turn in turns]
            wrong = [result for result in results if not result["right"]]
            if wrong:
                raise SystemExit(f"{library} answers {name} with an error of {wrong[0]['error']:g}")
            found[name][library] = {
                "seconds": median(result["seconds"] for result in results),
                "bytes": max(result["bytes"] for result in results),
                "error": max(result["error"] for result in results),
                "keys": keys[library]["keys"],
                "key_bytes": keys[library]["key_bytes"],
                "lines": lines_of(HERE / f"{library}_tasks.py", name),
            }
        print(name, file=sys.stderr)
    return found


def _cell(result: Result) -> str:
    size, error = result["bytes"] / 1000, result["error"]
    shown = "exact" if error == 0 else f"{error:.0e}".replace("e-0", "e-")
    return f"{result['lines']} · {result['seconds'] * 1000:.2f} · {size:,.0f} · {shown}"


def table(found: dict[str, dict[str, Result]], missing: dict[str, str]) -> str:
    """Return the table, and the table of keys."""
    present = [library for library in LIBRARIES if library not in missing]
    heads = [LIBRARIES[library] for library in present]
    lines = [
        "Lines · milliseconds · kilobytes that travel · largest error",
        "",
        f"| task | {' | '.join(heads)} |",
        f"| --- | {' | '.join('---:' for _ in heads)} |",
    ]
    for name, results in found.items():
        cells = [_cell(results[library]) for library in present]
        lines.append(f"| {TASKS[name].title} | {' | '.join(cells)} |")
    total = [sum(results[library]["lines"] for results in found.values()) for library in present]
    lines.append(f"| lines of all tasks | {' | '.join(str(count) for count in total)} |")
    shared = [lines_of(HERE / f"{library}_tasks.py") for library in present]
    lines.append(f"| lines they share: keys, parts | {' | '.join(str(n) for n in shared)} |")
    lines += ["", "Keys, made once:", ""]
    lines += [f"| for | {' | '.join(heads)} |", f"| --- | {' | '.join('---:' for _ in heads)} |"]
    for name, title in (("mean", "one product"), ("variance", "two"), ("exact_dot", "int64")):
        cells = [f"{found[name][lib]['key_bytes'] / 1e6:.1f} MB" for lib in present]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    lines += ["", *(f"{LIBRARIES[lib]} is missing: {how}" for lib, how in missing.items())]
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--install", action="store_true", help="make missing environments")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--markdown", type=Path, help="also write the tables to this file")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    pythons = {lib: install(lib) if arguments.install else python_of(lib) for lib in LIBRARIES}
    missing = {library: HOW[library] for library, python in pythons.items() if python is None}
    for library, how in missing.items():
        print(f"{LIBRARIES[library]} is missing: {how}", file=sys.stderr)
    workers = {lib: Worker(lib, python) for lib, python in pythons.items() if python is not None}
    found = measured(workers, arguments.rounds)
    for worker in workers.values():
        worker.end()
    text = table(found, missing)
    print(text)
    if arguments.markdown:
        arguments.markdown.write_text(text)
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
