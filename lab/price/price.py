#!/usr/bin/env python3
"""The price of secrecy: the same readings in sotto and, in the clear, in SQLite and in DuckDB with Parquet.

    python3 lab/price/price.py --bin target/release [--days 365] [--devices 2] [--json]

Each system takes the same CSV files, durably, and answers the same five questions; the answers are compared. Without the
package duckdb its row is left out, with the reason.
"""

import argparse
import csv
import json
import math
import os
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

# The first reading: 2024-01-01T00:00:00Z, one reading a minute.
FIRST = 1_704_067_200
QUESTIONS = ["mean of all", "mean by day", "mean by month", "largest by month", "mean of a week by hour"]
WEEK = ("2024-01-08", "2024-01-15")
REPEATS = 3


def readings(device, days):
    for minute in range(days * 1440):
        at = FIRST + 60 * minute
        value = 12 - 9 * math.cos(minute / 525_600 * 6.2832) - 4 * math.cos(minute / 1440 * 6.2832) + device
        yield at, round(value + 0.3 * math.sin(minute * (7 + device)), 1)


def write_csv(folder, devices, days):
    files = []
    for device in range(devices):
        path = folder / f"meter{device}.csv"
        with open(path, "w", newline="") as out:
            rows = csv.writer(out)
            rows.writerow(["time", "temperature"])
            rows.writerows(readings(device, days))
        files.append(path)
    return files


def size_of(path):
    return sum(file.stat().st_size for file in Path(path).rglob("*") if file.is_file())


def timed(work):
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def median_of(work):
    times = [timed(work) for _ in range(REPEATS)]
    return statistics.median(seconds for seconds, _ in times), times[-1][1]


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Sotto:
    """Two programs on one machine: the agents encrypt and sign, the cloud stores, the owner asks and checks the tags."""

    asked = [
        ("{f}", []),
        ("{f} by day", []),
        ("{f} by month", []),
        ("max(temperature) by month", []),
        ("{f} by hour", ["--since", WEEK[0], "--until", WEEK[1]]),
    ]

    def __init__(self, folder, bin_folder, files, squares):
        self.name = "sotto, means and deviations" if squares else "sotto, means and extremes"
        self.folder, self.bin, self.files = folder, Path(bin_folder).resolve(), files
        self.call = "mean(temperature), stddev(temperature)" if squares else "mean(temperature)"

    def run(self, program, *arguments):
        ended = subprocess.run(
            [self.bin / program, *arguments], cwd=self.folder / "plant", capture_output=True, text=True
        )
        if ended.returncode != 0:
            raise RuntimeError(f"{program} {' '.join(map(str, arguments))}: {ended.stderr}{ended.stdout}")
        return ended.stdout

    def load(self):
        port = free_port()
        address = f"127.0.0.1:{port}"
        (self.folder / "plant").mkdir(parents=True)
        self.run("sotto", "init", ".", "--cloud", f"http://{address}")
        channel = ["--unit", "°C", "--range", "-40..60", "--resolution", "0.1", "--every", "1m"]
        self.run("sotto", "channel", "add", "temperature", *channel)
        self.run("sotto", "question", "add", "hourly", f"{self.call}, max(temperature) by hour")
        names = [file.stem for file in self.files]
        for name in names:
            self.run("sotto", "device", "add", name, "--channels", "temperature")
        token = self.folder / "plant" / "secrets" / "owner-token"
        self.cloud = subprocess.Popen(
            [self.bin / "sotto-cloud", "run", "--listen", address]
            + ["--data", self.folder / "cloud", "--owner-token-file", token],
            stderr=subprocess.DEVNULL,
        )
        for _ in range(200):
            if socket.socket().connect_ex(("127.0.0.1", port)) == 0:
                break
            time.sleep(0.05)
        self.run("sotto", "status")

        def send():
            sent = [
                subprocess.Popen(
                    [self.bin / "sotto-agent", "run", "--bundle", f"{file.stem}.bundle", "--csv", file],
                    cwd=self.folder / "plant", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                )
                for file in self.files
            ]
            if any(agent.wait() != 0 for agent in sent):
                raise RuntimeError("an agent failed")

        self.token = token
        return timed(send)[0]

    def stored(self):
        of = ["--data", self.folder / "cloud", "--owner-token-file", self.token]
        store = json.loads(self.run("sotto-cloud", "store", *of, "--json"))
        return store["bytes"], store["sent_bytes"]

    def ask(self, number, *more):
        question, period = self.asked[number]
        question = question.format(f=self.call) if number != 3 else question
        answer = json.loads(self.run("sotto", "ask", question, *period, *more, "--json"))
        return [row["value"] for row in answer["rows"] if "stddev" not in row["name"]]

    def question(self, number):
        return self.ask(number, "--no-cache")

    def again(self, number):
        self.ask(number)
        return median_of(lambda: self.ask(number))[0]

    def close(self):
        self.cloud.terminate()
        self.cloud.wait()


def sql(number, table, day, month, hour, week):
    return [
        f"SELECT avg(value) FROM {table}",
        f"SELECT avg(value) FROM {table} GROUP BY {day} ORDER BY {day}",
        f"SELECT avg(value) FROM {table} GROUP BY {month} ORDER BY {month}",
        f"SELECT max(value) FROM {table} GROUP BY {month} ORDER BY {month}",
        f"SELECT avg(value) FROM {table} WHERE {week} GROUP BY {hour} ORDER BY {hour}",
    ][number]


def seconds_of(date):
    return int(datetime.fromisoformat(date).replace(tzinfo=timezone.utc).timestamp())


class Sqlite:
    name = "SQLite, a thousand rows a transaction"

    def __init__(self, folder, files):
        self.files, self.path = files, folder / "readings.sqlite"
        folder.mkdir(parents=True)

    def load(self):
        self.connection = sqlite3.connect(self.path, isolation_level=None)
        self.connection.executescript(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
            "CREATE TABLE readings (device INTEGER, moment INTEGER, value REAL, PRIMARY KEY (device, moment)) WITHOUT ROWID"
        )

        def insert():
            for device, file in enumerate(self.files):
                with open(file, newline="") as lines:
                    rows = csv.reader(lines)
                    next(rows)
                    some = [(device, int(at), float(value)) for at, value in rows]
                for first in range(0, len(some), 1000):
                    self.connection.execute("BEGIN")
                    self.connection.executemany("INSERT INTO readings VALUES (?, ?, ?)", some[first : first + 1000])
                    self.connection.execute("COMMIT")

        return timed(insert)[0]

    def stored(self):
        return self.path.stat().st_size, None

    def question(self, number):
        part = lambda form: f"strftime('{form}', moment, 'unixepoch')"
        week = f"moment >= {seconds_of(WEEK[0])} AND moment < {seconds_of(WEEK[1])}"
        text = sql(number, "readings", part("%Y-%m-%d"), part("%Y-%m"), part("%Y-%m-%d %H"), week)
        return [value for (value,) in self.connection.execute(text)]

    def close(self):
        self.connection.close()


class DuckDb:
    name = "DuckDB, one Parquet file a device"

    def __init__(self, folder, files):
        import duckdb

        self.files, self.folder, self.connection = files, folder, duckdb.connect()
        folder.mkdir(parents=True)

    def load(self):
        def copy():
            for device, file in enumerate(self.files):
                to = self.folder / f"{device}.parquet"
                self.connection.execute(
                    f"COPY (SELECT {device} AS device, time AS moment, temperature AS value FROM read_csv('{file}') ORDER BY moment) "
                    f"TO '{to}' (FORMAT parquet, COMPRESSION zstd)"
                )
                with open(to, "rb") as written:
                    os.fsync(written.fileno())

        return timed(copy)[0]

    def stored(self):
        return size_of(self.folder), None

    def question(self, number):
        part = lambda unit: f"date_trunc('{unit}', to_timestamp(moment) AT TIME ZONE 'UTC')"
        week = f"moment >= {seconds_of(WEEK[0])} AND moment < {seconds_of(WEEK[1])}"
        text = sql(number, f"'{self.folder}/*.parquet'", part("day"), part("month"), part("hour"), week)
        return [value for (value,) in self.connection.execute(text).fetchall()]

    def close(self):
        self.connection.close()


def measure(system, count):
    result = {"name": system.name, "rate": count / system.load(), "questions": [], "answers": []}
    for number in range(len(QUESTIONS)):
        took, answer = median_of(lambda: system.question(number))
        result["questions"].append(took)
        result["answers"].append(answer)
    if hasattr(system, "again"):
        result["again"] = [system.again(number) for number in range(len(QUESTIONS))]
    return result


def compare(results):
    """Every system has the same answers: within half of the resolution, for sotto's largest of rounded readings, exactly."""
    right = next(result for result in results if result["name"] == Sqlite.name)
    for result in results:
        for number, (found, expected) in enumerate(zip(result["answers"], right["answers"])):
            if len(found) != len(expected) or any(abs(a - b) > 1e-6 for a, b in zip(found, expected)):
                raise SystemExit(f"{result['name']} answers `{QUESTIONS[number]}` otherwise")


def markdown(results, count):
    milliseconds = lambda seconds: f"{1000 * seconds:.0f}" if seconds >= 0.01 else f"{1000 * seconds:.1f}"
    lines = [
        f"{count:,} readings; the medians of {REPEATS} in milliseconds, of a question by itself.",
        "",
        "| | bytes a reading sent | at rest | readings a second in | " + " | ".join(QUESTIONS) + " |",
        "| --- | --- | --- | --- |" + " --- |" * len(QUESTIONS),
    ]
    for result in results:
        times = " | ".join(map(milliseconds, result["questions"]))
        sent = f"{result['sent']:.2f}" if result["sent"] else "–"
        lines.append(f"| {result['name']} | {sent} | {result['bytes']:.2f} | {result['rate']:,.0f} | {times} |")
        if "again" in result:
            times = " | ".join(map(milliseconds, result["again"]))
            lines.append(f"| … asked again, sums in the cache | | | | {times} |")
    return "\n".join(lines)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--bin", default="target/release", help="the folder of sotto, sotto-agent and sotto-cloud")
    options.add_argument("--days", type=int, default=365, help="days of readings of a minute, from 2024-01-01 on")
    options.add_argument("--devices", type=int, default=2)
    options.add_argument("--json", action="store_true")
    given = options.parse_args()
    if given.days < 15:
        options.error("the week of the last question ends on the 14th day")
    results, count = [], given.devices * given.days * 1440
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        files = write_csv(folder, given.devices, given.days)
        systems = [
            lambda: Sotto(folder / "means", given.bin, files, False),
            lambda: Sotto(folder / "squares", given.bin, files, True),
            lambda: Sqlite(folder / "sqlite", files),
            lambda: DuckDb(folder / "duckdb", files),
        ]
        for make in systems:
            try:
                system = make()
            except (ImportError, RuntimeError) as error:
                print(f"left out: {error}", file=sys.stderr)
                continue
            print(system.name, file=sys.stderr)
            try:
                result = measure(system, count)
            finally:
                system.close()
            stored, sent = system.stored()
            results.append(result | {"bytes": stored / count, "sent": sent and sent / count})
    compare(results)
    for result in results:
        del result["answers"]
    print(json.dumps(results, indent=1) if given.json else markdown(results, count))


if __name__ == "__main__":
    main()
