#!/usr/bin/env python3
"""The price of secrecy: the same readings in sotto and, in the clear, in SQLite, in DuckDB with Parquet and in QuestDB.

    python3 lab/price/price.py --bin target/release [--days 365] [--devices 2] [--questdb JAR] [--json]

Each system takes the same CSV files, durably, and answers the same five questions; the answers are compared. A second table
has the bytes at rest of each promise of sotto. Without the package duckdb its row and that table are left out, without
Java 17 or a jar of QuestDB 9 its row, with the reason.
"""

import argparse
import csv
import http.client
import itertools
import json
import math
import os
import re
import shutil
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
from datetime import datetime, timezone
from pathlib import Path

# The first reading: 2024-01-01T00:00:00Z, one reading a minute.
FIRST = 1_704_067_200
QUESTIONS = ["mean of all", "mean by day", "mean by month", "largest by month", "mean of a week by hour"]
WEEK = ("2024-01-08", "2024-01-15")
REPEATS = 3

# The columns of a segment (docs/concepts/data-model.md#segments) by the promise that needs them. `parts` has places and tags.
COLUMNS = {
    "times, names, presence and numbers, which a plain store has, too": (
        "tenant device stream header kind number bytes start ticks first last readings flags lists"
    ),
    "names of the pads": "salt pad",
    "signatures": "signature path group_index group_windows",
    "places in the log, times of arrival": "position arrived rest",
}
TAG = 8


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


def wait_for(port, process, seconds):
    """Waits until a server listens."""
    for _ in range(20 * seconds):
        if socket.socket().connect_ex(("127.0.0.1", port)) == 0:
            return
        if process.poll() is not None:
            raise RuntimeError(f"{process.args[0]} ended with {process.returncode}")
        time.sleep(0.05)
    raise RuntimeError(f"{process.args[0]} does not listen after {seconds} s")


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

    def start(self):
        self.cloud = subprocess.Popen(
            [self.bin / "sotto-cloud", "run", "--listen", f"127.0.0.1:{self.port}"]
            + ["--data", self.folder / "cloud", "--owner-token-file", self.token],
            stderr=subprocess.DEVNULL,
        )
        wait_for(self.port, self.cloud, 10)

    def stop(self):
        self.cloud.terminate()
        self.cloud.wait()

    def database(self, options):
        return sqlite3.connect(f"file:{self.folder / 'cloud' / 'cloud.sqlite'}?{options}", uri=True)

    def load(self):
        self.port = free_port()
        (self.folder / "plant").mkdir(parents=True)
        self.run("sotto", "init", ".", "--cloud", f"http://127.0.0.1:{self.port}")
        channel = ["--unit", "°C", "--range", "-40..60", "--resolution", "0.1", "--every", "1m"]
        self.run("sotto", "channel", "add", "temperature", *channel)
        self.run("sotto", "question", "add", "hourly", f"{self.call}, max(temperature) by hour")
        names = [file.stem for file in self.files]
        for name in names:
            self.run("sotto", "device", "add", name, "--channels", "temperature")
        self.token = self.folder / "plant" / "secrets" / "owner-token"
        self.start()
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

        return timed(send)[0]

    def store(self):
        of = ["--data", self.folder / "cloud", "--owner-token-file", self.token]
        return json.loads(self.run("sotto-cloud", "store", *of, "--json"))

    def stored(self):
        store = self.store()
        return store["bytes"], store["sent_bytes"]

    def promises(self):
        """Returns the bytes at rest by promise, counted in the store's files. None without duckdb."""
        try:
            import duckdb
        except ImportError:
            return None
        cloud = self.folder / "cloud"
        segments = str(cloud / "segments" / "*")
        columns = dict(
            duckdb.execute(
                "SELECT path_in_schema, sum(total_compressed_size)::BIGINT FROM parquet_metadata(?) GROUP BY 1", [segments]
            ).fetchall()
        )
        kinds = duckdb.execute(
            "SELECT kind, device, readings, ticks, octet_length(parts), count(*) FROM read_parquet(?) GROUP BY ALL", [segments]
        ).fetchall()
        devices = json.loads(self.run("sotto", "device", "list", "--json"))
        places = tags = 0
        for kind, device, readings, ticks, length, windows in kinds:
            [stream] = devices[device]["bundles"][-1]["streams"]
            parts = stream["sums"]
            if kind != 0 or readings != ticks or length != window_bytes(parts, ticks):
                raise SystemExit(f"{device} has windows of kind {kind}, {readings} of {ticks} readings, {length} bytes")
            places += windows * (length - TAG * len(parts))
            tags += windows * TAG * len(parts)
        if sum(windows for *_, windows in kinds) != self.store()["sealed"]:
            raise SystemExit("the segments have other windows than the catalogue")
        with_columns = {name: sum(columns.pop(of) for of in names.split()) for name, names in COLUMNS.items()}
        if list(columns) != ["parts"]:
            raise SystemExit(f"columns without a promise: {', '.join(columns)}")
        database = self.database("immutable=1")
        ((sums,),) = database.execute("SELECT coalesce(sum(length(sums)), 0) FROM nodes")
        database.close()
        of_database = sum(file.stat().st_size for file in cloud.glob("cloud.sqlite*"))
        return {
            "encrypted places": places,
            "tags": tags,
            **with_columns,
            "sums that are ready": sums,
            "the rest of the database: catalogue, windows that wait, free pages": of_database - sums,
            "framing of Parquet: lengths, blocks, their digests": (
                size_of(cloud / "segments") - places - tags - sum(with_columns.values())
            ),
        }

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
        self.stop()
        # Stopping may merge segments, whose sums the next start makes: without them the size would be too small.
        self.port = free_port()
        self.start()
        database = self.database("mode=ro")
        for _ in range(300):
            if database.execute("SELECT count(*) FROM segments WHERE summed = 0").fetchone() == (0,):
                break
            time.sleep(0.1)
        else:
            print("sotto made no sums for 30 s: the size at rest lacks them", file=sys.stderr)
        database.close()
        self.stop()


def window_bytes(parts, ticks):
    """Returns the bytes of a whole window's parts: the places of each, rounded up to a byte, and a tag."""
    places = {"reading": ticks, "square": ticks, "largest": 1}
    bits = lambda part: sum(of["width"] * places[kind] for of in part["quantities"] for kind in of["quantity"])
    return sum(math.ceil(bits(part) / 8) + TAG for part in parts)


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


def newest_questdb():
    """Returns the newest jar of QuestDB in Maven's folder. Version 7 answers no request on some machines; 9 does."""
    found = Path.home().glob(".m2/repository/org/questdb/questdb/*/questdb-*.jar")
    version = lambda jar: tuple(map(int, re.findall(r"\d+", jar.parent.name)))
    return max((jar for jar in found if version(jar) >= (9,)), key=version, default=None)


class QuestDb:
    """A server of its own, asked over HTTP on one connection. A commit waits for the disk, as those of the others do."""

    name = "QuestDB, a thousand rows a commit"
    settings = {
        "cairo.commit.mode": "sync",
        # Removes logs once their rows are in the table, within seconds instead of minutes: `close` waits for it.
        "cairo.idle.check.interval": "1000",
        "cairo.wal.inactive.writer.ttl": "1000",
        "cairo.wal.purge.interval": "1000",
        "http.min.enabled": "false",
        "line.tcp.enabled": "false",
        "pg.enabled": "false",
        "telemetry.enabled": "false",
    }

    def __init__(self, folder, files, jar):
        jar = jar or newest_questdb()
        if not jar:
            raise RuntimeError("no jar of QuestDB 9: name one with --questdb, or fetch it (docs/benchmarks-price.md)")
        if not Path(jar).is_file():
            raise RuntimeError(f"{jar} is no file")
        if not shutil.which("java"):
            raise RuntimeError("no java to run QuestDB")
        self.folder, self.files, port = folder, files, free_port()
        (folder / "conf").mkdir(parents=True)
        settings = self.settings | {"http.bind.to": f"127.0.0.1:{port}"}
        (folder / "conf" / "server.conf").write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        self.server = subprocess.Popen(
            ["java", "-p", jar, "-m", "io.questdb/io.questdb.ServerMain", "-d", folder],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        try:
            wait_for(port, self.server, 60)
        except RuntimeError:
            self.server.kill()
            self.server.wait()
            raise
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def request(self, method, path, body=None):
        self.connection.request(method, path, body)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"QuestDB: {answer.status} {text.decode()}")
        return text

    def query(self, text):
        return json.loads(self.request("GET", "/exec?" + urllib.parse.urlencode({"query": text})))["dataset"]

    def load(self):
        self.request("GET", "/exec?" + urllib.parse.urlencode({"query": (
            "CREATE TABLE readings (device SYMBOL, value DOUBLE, moment TIMESTAMP) TIMESTAMP(moment) PARTITION BY MONTH WAL"
        )}))

        def write():
            tables = [open(file, newline="") for file in self.files]
            for table in tables:
                next(table)
            # In the order of time, as it comes from devices: an earlier row would make QuestDB write a partition again.
            rows = (
                f"readings,device={device} value={value} {at}000000000\n"
                for moment in zip(*map(csv.reader, tables))
                for device, (at, value) in enumerate(moment)
            )
            while some := "".join(itertools.islice(rows, 1000)):
                self.request("POST", "/write?precision=n", some.encode())
            for table in tables:
                table.close()
            # A row is durable once it is in a log, and can be read once it is in the table.
            while self.query("SELECT 1 FROM wal_tables() WHERE name = 'readings' AND writerTxn < sequencerTxn"):
                time.sleep(0.005)

        return timed(write)[0]

    def stored(self):
        return sum(size_of(table) for table in (self.folder / "db").glob("readings*")), None

    def question(self, number):
        by = ["", "SAMPLE BY 1d", "SAMPLE BY 1M", "SAMPLE BY 1M", "SAMPLE BY 1h"][number]
        value = "max(value)" if number == 3 else "avg(value)"
        week = f"WHERE moment >= '{WEEK[0]}' AND moment < '{WEEK[1]}'" if number == 4 else ""
        if not by:
            return [value for (value,) in self.query(f"SELECT {value} FROM readings")]
        rows = self.query(f"SELECT moment, {value} FROM readings {week} {by} ORDER BY moment")
        return [value for _, value in rows]

    def close(self):
        self.connection.close()
        for _ in range(300):
            if not any((self.folder / "db").glob("readings*/wal*/*")):
                break
            time.sleep(0.1)
        else:
            print("QuestDB kept its logs for 30 s: the size at rest has them", file=sys.stderr)
        self.server.terminate()
        self.server.wait()


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


def markdown_of_promises(results):
    """A table of the bytes a reading at rest by promise, or nothing where none were counted."""
    results = [result for result in results if result.get("promises")]
    if not results:
        return ""
    lines = ["", "| bytes a reading at rest | " + " | ".join(result["name"] for result in results) + " |"]
    lines.append("| --- |" + " --- |" * len(results))
    for name in results[0]["promises"]:
        lines.append(f"| {name} | " + " | ".join(f"{result['promises'][name]:.3f}" for result in results) + " |")
    lines.append("| together | " + " | ".join(f"{result['bytes']:.3f}" for result in results) + " |")
    return "\n".join(lines)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--bin", default="target/release", help="the folder of sotto, sotto-agent and sotto-cloud")
    options.add_argument("--days", type=int, default=365, help="days of readings of a minute, from 2024-01-01 on")
    options.add_argument("--devices", type=int, default=2)
    options.add_argument("--questdb", metavar="JAR", help="QuestDB 9 or later (the newest in Maven's folder)")
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
            lambda: QuestDb(folder / "questdb", files, given.questdb),
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
            result |= {"bytes": stored / count, "sent": sent and sent / count}
            promises = system.promises() if isinstance(system, Sotto) else None
            if promises:
                assert sum(promises.values()) == stored, f"the promises take {sum(promises.values())} bytes, the store {stored}"
                result["promises"] = {name: took / count for name, took in promises.items()}
            results.append(result)
    compare(results)
    for result in results:
        del result["answers"]
    print(json.dumps(results, indent=1) if given.json else markdown(results, count) + "\n" + markdown_of_promises(results))


if __name__ == "__main__":
    main()
