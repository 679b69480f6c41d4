#!/usr/bin/env python3
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
import hashlib
import http.client
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE / "golden"
DEVICES = ("boiler", "kiln", "legacy", "meter", "pump", "tank", "well")

# Everything that depends on time, chance, machine, port or path. Applied in this order.
PLACEHOLDERS = [
    (r"127\.0\.0\.1:\d+", "127.0.0.1:<port>"),
    (r"\b20\d{6}T\d{6}\.\d{3}Z", "<answer>"),
    (r"\b20(?:2[6-9]|[3-9]\d)-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(?:Z|[+-]\d\d:\d\d)?", "<time>"),
    (r'"((?:\w+_)?(?:us|seconds|seconds_a_window|peak_memory_bytes|pid))": ?[-+\d.e]+', r'"\1": <measured>'),
    (r'"(pack|encode|encrypt|spool|upload)": \[[-+\d.e,\s]*\]', r'"\1": [<measured>]'),
    (r"(sotto-evaluate-us): \d+", r"\1: <measured>"),
    (r"[\d.]+ (?:[KMG]iB) of memory held", "<measured> of memory held"),
    (r"(?m)\d+(?:\.\d+)? (?:ns|µs|ms|s)( of computing| for the| from question|$| in all| here| in the cloud)", r"<duration>\1"),
    (r"again_in=[\d.]+(?:ns|µs|ms|s)", "again_in=<duration>"),
    (r"before-restore-\d+", "before-restore-<ms>"),
    (r"new with [1-9]\d* bytes", "new with <bytes> bytes"),
]
# Replaced unless the fixture has them: times in milliseconds since 1970; ids, keys, digests, signatures, marks of alarms.
MILLISECONDS = re.compile(r"(?<![0-9a-z])(?<!\d\.)(?:1[7-9]|2\d)\d{11}\b")
DIGITS = re.compile(r"(?<![0-9a-f.])[0-9a-f]{16,}(?![0-9a-f])|(?<=\d{13}\.)[0-9a-f]{8}(?=\")")
# Heads of logs and transcripts end with time, key, signature and digest: 136 bytes.
SIGNED = re.compile(r"(736f7474011[cd][0-9a-f]+)[0-9a-f]{272}(?![0-9a-f])")
NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
TOLERANCE = 5e-4


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def known_bytes(folder):
    """Returns the bytes and the hexadecimal digits of the fixture: its names are no chance."""
    binary, text = [], []
    for path in sorted(folder.rglob("*")):
        text.append(path.name)
        if path.is_file() and path.suffix == ".sqlite":
            with sqlite3.connect(path) as store:
                tables = [name for name, in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
                for table in tables:
                    for row in store.execute(f"SELECT * FROM {table}"):
                        binary += [value for value in row if isinstance(value, bytes)]
                        text += [str(value) for value in row if isinstance(value, (str, int))]
            store.close()
        elif path.is_file() and path.name != "reserve":
            binary.append(path.read_bytes())
            text.append(binary[-1].decode("latin-1"))
    text = "\n".join(text)
    return b"\0".join(binary), set(DIGITS.findall(text)) | set(MILLISECONDS.findall(text))


class House:
    """The unpacked fixture with running clouds; collects the text of the golden files."""

    def __init__(self, programs, folder):
        self.programs, self.folder, self.golden, self.clouds = programs, folder, {}, {}
        with tarfile.open(HERE / "kept.tar.xz") as archive:
            archive.extractall(folder)
        self.binary, self.digits = known_bytes(folder)
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8",
                            "SOTTO_PASSPHRASE": "correct horse"}
        self.ports = {}
        for plant in ("plant", "fleet"):
            self.ports[plant] = free_port()
            for name in ("sotto.toml", "cloud.toml"):
                file = folder / plant / name
                file.write_text(re.sub(r"127\.0\.0\.1:\d+", f"127.0.0.1:{self.ports[plant]}", file.read_text()))

    def start(self, plant):
        with open(self.folder / f"{plant}.log", "a") as log:
            self.clouds[plant] = subprocess.Popen(
                [self.programs / "sotto-cloud", "run", "--config", f"{plant}/cloud.toml"], cwd=self.folder,
                env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        for _ in range(400):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.ports[plant])) == 0:
                    return
            time.sleep(0.025)
        raise SystemExit("the cloud does not start: " + (self.folder / f"{plant}.log").read_text())

    def stop(self, plant):
        cloud = self.clouds.pop(plant)
        cloud.send_signal(signal.SIGTERM)
        self.note("cloud", f"the cloud of {plant} ends by a signal", f"exit {cloud.wait(30)}\n")

    def close(self):
        for cloud in self.clouds.values():
            cloud.kill()

    def plain(self, text, kept=False):
        """Replaces everything in `text` that differs from run to run; `kept`: it has the digits of the fixture alone."""
        text = text.replace(str(self.folder), "<folder>")
        for pattern, placeholder in PLACEHOLDERS:
            text = re.sub(pattern, placeholder, text)
        text = MILLISECONDS.sub(lambda found: found[0] if found[0] in self.digits else "<ms>", text)
        text = SIGNED.sub(r"\1<136 bytes>", text) if kept else DIGITS.sub(self.digits_of, text)
        return text

    def lines(self, text):
        text = self.plain(text)
        return text + "\n" if text and not text.endswith("\n") else text

    def digits_of(self, found):
        digits = found[0]
        if digits in self.digits or (len(digits) % 2 == 0 and bytes.fromhex(digits) in self.binary):
            return digits
        return f"<{len(digits)} digits>"

    def note(self, group, title, text):
        self.golden.setdefault(group, []).append(f"$ {self.plain(title, kept=True)}\n{text}\n")

    def run(self, group, line, stdin=""):
        """Runs a command line and notes exit code and output."""
        program, *arguments = shlex.split(line)
        done = subprocess.run([self.programs / program, *arguments], cwd=self.folder, env=self.environment,
                              input=stdin, capture_output=True, text=True, timeout=120)
        text = f"exit {done.returncode}\n" + self.lines(done.stdout)
        if done.stderr:
            text += "stderr:\n"
            # The cloud logs files in the order of their folder.
            errors = self.lines(done.stderr)
            text += "".join(sorted(errors.splitlines(True))) if program == "sotto-cloud" else errors
        self.note(group, line, text)
        return done.stdout

    def file(self, group, name):
        """Notes a text file of the folder."""
        path = self.folder / name
        text = self.plain(path.read_text()) if path.exists() else "missing"
        if len(text) > 20_000:
            text = f"{len(text)} characters, sha256 {hashlib.sha256(text.encode()).hexdigest()}"
        self.note(group, str(name), text if text.endswith("\n") else text + "\n")

    def both(self, group, line, **options):
        self.run(group, line, **options)
        return self.run(group, line + " --json", **options)

    def request(self, group, method, path, plant="plant", token=True, body=None, headers=(), quiet=False):
        """Sends one HTTP request and notes the answer; binary bodies by length and digest."""
        connection = http.client.HTTPConnection("127.0.0.1", self.ports[plant], timeout=30)
        sent = dict(headers)
        if token:
            sent["Authorization"] = "Bearer " + (token if isinstance(token, str) else self.token(plant))
        connection.request(method, path, body=body, headers=sent)
        answer = connection.getresponse()
        received = answer.read()
        connection.close()
        if quiet:
            return received
        lines = [f"{answer.status} {answer.reason}"]
        lines += sorted(f"{name.lower()}: {value}" for name, value in answer.getheaders() if name.lower() != "date")
        kind = answer.getheader("content-type", "")
        if kind.endswith("json"):
            lines.append(received.decode())
        elif received:
            lines.append(self.body(received))
        title = method + " " + path + "".join(f" {name}: {value}" for name, value in dict(headers).items())
        if body is not None:
            title += " " + (body if isinstance(body, str) and len(body) < 300 else f"[{len(body)} bytes]")
        self.note(group, title, self.plain("\n".join(lines), kept=group.startswith("http")) + "\n")
        return received

    def body(self, received):
        """Describes a binary body: in full what does not differ from run to run."""
        head = f"{len(received)} bytes of kind {received[5]}" if received[:4] == b"sott" else f"{len(received)} bytes"
        # Sums end with the cloud's signature and its time; the ciphertext before them has none.
        return f"{head}, sha256 {hashlib.sha256(received).hexdigest()}"

    def token(self, plant):
        return (self.folder / plant / "secrets/owner-token").read_text().strip()


def settled(now, kept):
    """Returns `now`, with lines of `kept` where only the last digits of numbers differ."""
    old, new = kept.splitlines(), now.splitlines()
    if len(old) != len(new):
        return now

    def same(one, other):
        pairs = zip(NUMBER.findall(one), NUMBER.findall(other))
        return NUMBER.sub("", one) == NUMBER.sub("", other) and all(abs(float(a) - float(b)) < TOLERANCE for a, b in pairs)

    return "\n".join(a if same(a, b) else b for a, b in zip(old, new)) + "\n"


def helps(house):
    """Notes the help of every command, found by the lists of commands in the help itself."""
    def tree(program, path=()):
        done = subprocess.run([house.programs / program, *path, "--help"], env=house.environment, capture_output=True,
                              text=True)
        house.run("help-" + program, " ".join((program, *path, "--help")))
        commands = re.search(r"^Commands:\n((?: .*\n)+)", done.stdout, re.M)
        for name in re.findall(r"^  (\S+)", commands[1], re.M) if commands else ():
            if name != "help":
                tree(program, (*path, name))

    for program in ("sotto", "sotto-agent", "sotto-cloud"):
        tree(program)
        house.run("help-" + program, f"{program} --version")
        house.run("help-" + program, program)
        house.run("help-" + program, f"{program} nonsense")


def reading(house):
    """Requests of the owner that change nothing, on the store as it was kept."""
    group = "http-read"
    for path in ("/healthz", "/readyz", "/v1/openapi.json"):
        house.request(group, "GET", path, token=False)
    for path in ("/v1/devices", "/v1/devices?limit=2", "/v1/devices?after=legacy&limit=2", "/v1/devices?limit=x",
                 "/v1/identity", "/v1/limits", "/v1/jobs", "/v1/jobs?limit=1", "/v1/envelopes?limit=1000",
                 "/v1/envelopes?device=tank&limit=3", "/v1/envelopes?device=tank&stream=exact-1h&after_sequence=2",
                 "/v1/envelopes?device=meter&ended_after=1268400000000&started_before=1268410000000",
                 "/v1/envelopes?limit=2&after=meter/exact-15m/7", "/v1/envelopes?after=nonsense", "/nothing",
                 "/v1/nothing"):
        house.request(group, "GET", path)
    for method, path in (("GET", "/v1/devices"), ("GET", "/v1/envelopes"), ("GET", "/v1/limits")):
        house.request(group, method, path, token=False)
        house.request(group, method, path, token="an-other-token-of-some-length")
    for method, path in (("POST", "/v1/devices"), ("DELETE", "/v1/limits"), ("HEAD", "/v1/limits"), ("PUT", "/healthz")):
        house.request(group, method, path)
    listed = json.loads(house.request(group, "GET", "/v1/envelopes?limit=1000", quiet=True))
    for entry in listed:
        for part in ("", "/body", "/envelope"):
            house.request("http-envelopes", "GET", f"/v1/envelopes/{entry['id']}{part}")
    for wrong in ("0" * 32, "xyz", "0" * 31):
        house.request("http-envelopes", "GET", f"/v1/envelopes/{wrong}")
        house.request("http-envelopes", "GET", f"/v1/envelopes/{wrong}/body")
    streams = sorted({(entry["device"], entry["stream"]) for entry in listed})
    for device, stream in [*streams, ("boiler", "nothing"), ("nobody", "exact-1h")]:
        house.request("http-log", "GET", f"/v1/log?device={device}&stream={stream}")
    house.request("http-log", "GET", "/v1/log?device=boiler&stream=exact-1h&from=2&limit=2")
    house.request("http-log", "GET", "/v1/log?device=boiler")
    for job in json.loads(house.request(group, "GET", "/v1/jobs", quiet=True)):
        house.request(group, "GET", f"/v1/jobs/{job['job']}")
        house.request(group, "GET", f"/v1/jobs/{job['job']}/outputs/0")
        house.request(group, "GET", f"/v1/jobs/{job['job']}/outputs/9")
    house.request(group, "GET", f"/v1/jobs/{'0' * 32}")
    house.request(group, "GET", f"/v1/keys/{listed[0]['parameter_id']}/{listed[0]['key_id']}")
    return listed


def sums(house, listed):
    """Sums over HTTP, and their refusals."""
    group = "http-sums"
    ids = {device: [entry["id"] for entry in listed if entry["device"] == device and entry["stream"] == "exact-1h"]
           for device in DEVICES}
    def ask(envelopes, *wanted):
        body = json.dumps({"envelopes": envelopes, "sums": [dict(zip(("envelopes", "places", "weights"), sum))
                                                            for sum in wanted]})
        house.request(group, "POST", "/v1/sums", body=body, headers={"Content-Type": "application/json"})
    ask(ids["boiler"][:1], ([0, 1], [0, 25]))
    ask(ids["boiler"][:2], ([0, 2], [0, 25]), ([1, 1], [5, 50]), ([0, 1], [24, 76]))
    ask(ids["boiler"], ([0, 6], [0, 25]))
    ask(ids["boiler"][:2], ([0, 2], [0, 2], [1, -2, 3, -4]))
    ask(ids["boiler"], ([0, 99], [0, 25]))
    ask(ids["boiler"][:1], ([0, 1], [0, 9999]))
    ask(ids["boiler"][:1] + ids["tank"][:1], ([0, 2], [0, 25]))
    ask(["0" * 32], ([0, 1], [0, 25]))
    ask([], ([0, 1], [0, 25]))
    for body in ("{", "{}", '{"envelopes": [], "sums": [], "more": 1}', "[" * 1000):
        house.request(group, "POST", "/v1/sums", body=body, headers={"Content-Type": "application/json"})
    with sqlite3.connect(house.folder / "fleet/cloud/cloud.sqlite") as store:
        fleet = store.execute("SELECT hex(id) FROM fleets").fetchone()[0].lower()
    store.close()
    for body in ({"most": 1000, "start": 1735689600000, "ticks": 24}, {"most": 2, "start": 1735689600000, "ticks": 24},
                 {"most": 1000, "start": 1735689600000, "ticks": 25}, {"most": 0, "start": 1735689600000, "ticks": 24},
                 {"most": 5, "start": 1, "ticks": 24}):
        house.request(group, "POST", f"/v1/fleets/{fleet}/sums", plant="fleet", body=json.dumps(body),
                      headers={"Content-Type": "application/json"})
    house.request(group, "POST", f"/v1/fleets/{'0' * 32}/sums", plant="fleet",
                  body=json.dumps({"most": 1000, "start": 1735689600000, "ticks": 24}))


def uploads(house, listed):
    """Uploads of stored envelopes again, damaged ones, and other writes that are refused."""
    group = "http-upload"
    stored = {entry["id"]: entry for entry in listed}
    def send(body, key):
        headers = {"Content-Type": "application/octet-stream"} | ({"Idempotency-Key": key} if key else {})
        house.request(group, "POST", "/v1/envelopes", token=False, body=body, headers=headers)
    for device, stream in (("boiler", "exact-1h"), ("tank", "real-1h"), ("well", "steps-1h"), ("legacy", "exact-1h"),
                           ("legacy", "real-1h"), ("meter", "exact-15m")):
        entry = next(entry for entry in listed if (entry["device"], entry["stream"]) == (device, stream))
        body = (house.folder / "plant/cloud/envelopes" / entry["id"]).read_bytes()
        key = f"{device}.{stream}.{entry['sequence']}"
        send(body, key)
        if device in ("boiler", "legacy"):
            for wrong in (None, "x", "x y", f"{device}.{stream}.77", "k" * 200):
                send(body, wrong)
            send(body[:-1], key)
            send(body + b"\0", key)
            send(body[:-40] + bytes([body[-40] ^ 1]) + body[-39:], key)
            send(b"nothing", key)
            send(body[:4] + b"\x09" + body[5:], key)
            send(body[:5] + b"\x02" + body[6:], key)
    send(b"", "boiler.exact-1h.0")
    for path, body in (("/v1/parameters", b"nothing"), ("/v1/plans", b"nothing"), ("/v1/keys", b"nothing")):
        house.request(group, "PUT", path, body=body)
        house.request(group, "PUT", path, body=body, token=False)
    for path in ("/v1/position", "/v1/newest"):
        house.request(group, "POST", path, token=False, body=b"nothing")
    for body in ("{", "{}", '{"keys":[],"streams":[],"verifying_key":"00"}',
                 json.dumps({"keys": [], "streams": ["00"], "verifying_key": "0" * 64})):
        house.request(group, "PUT", "/v1/devices/boiler", body=body)
    house.request(group, "PUT", "/v1/devices/a%20b", body=json.dumps({"keys": [], "verifying_key": "0" * 64}))
    house.request(group, "DELETE", "/v1/devices/nobody")
    house.request(group, "DELETE", "/v1/envelopes?device=nobody&before=1")
    house.request(group, "DELETE", "/v1/envelopes?device=boiler")
    house.request(group, "POST", "/v1/jobs", body=json.dumps({"plan": "0" * 64, "inputs": []}))
    house.request(group, "POST", "/v1/jobs", body=json.dumps({"plan": "0" * 64, "inputs": ["0" * 32], "key": "x"}))
    house.request(group, "PUT", "/v1/plans", body=next((house.folder / "plant/cloud/plans").iterdir()).read_bytes())
    with sqlite3.connect(house.folder / "plant/cloud/cloud.sqlite") as store:
        frames = [frame for frame, in store.execute("SELECT frame FROM parameters ORDER BY id")]
    store.close()
    for frame in frames:
        house.request(group, "PUT", "/v1/parameters", body=frame)


EXACT = ("count(temperature)", "sum(temperature)", "mean(temperature)", "avg(humidity)", "variance(temperature)",
         "stddev(temperature)", "rms(temperature)", "energy(temperature)", "covariance(temperature, humidity)",
         "correlation(temperature, humidity)", "regression(humidity ~ temperature)",
         "regression(temperature ~ humidity)", "weighted_sum(temperature, [1, 2, 3.5])",
         "weighted_sum(temperature, half_life 6h)", "moving_average(temperature, 3)", "count(temperature > 50)",
         "count(temperature <= 48)", "count(temperature >= 47.3)", "time(temperature < 50)", "min(temperature)",
         "max(temperature)", "quantile(temperature, 0.95)", "median(temperature)", "histogram(temperature, 7)",
         "histogram(temperature, [0, 40, 45.5, 60])", "max(temperature) - min(temperature) as span",
         "mean(temperature) / stddev(temperature)", "mean(temperature) * count(temperature) - 3",
         "mean(temperature) / (mean(temperature) - mean(temperature))")
BY_DAY = ("variance(temperature)", "moving_average(temperature, 3)")


def asking(house):
    """Every function of the language, over all clauses."""
    for function in EXACT:
        by = "" if "moving" not in function else " by day"
        for clause in (by, " by day per device" if "moving" not in function else " by week per device"):
            house.run("ask-exact", f"sotto ask '{function}{clause}' --no-keep")
        house.run("ask-exact-json", f"sotto ask '{function}{by}' --no-keep --json")
    house.run("ask-exact-json", "sotto ask 'mean(temperature), correlation(temperature, humidity), max(temperature), "
              "histogram(temperature, 7) by day per device' --no-keep --json")
    two = "mean(temperature), stddev(temperature)"
    for clauses in ("by hour since 2010-03-14 until 2010-03-15", "by window where device in (boiler)", "by day", "by week",
                    "by month", "over 2d", "over 36h by day", "across devices", "per device", "since 2010-03-13",
                    "until 2010-03-15", "since 2010-03-13T12:00 until 2010-03-15T00:00:00-07:00 by day",
                    "where device in (boiler, tank) per device", "where device in (legacy) by day", "shared by day",
                    "since 2011-01-01", "by month per device over 4d"):
        house.both("ask-clauses", f"sotto ask '{two} {clauses}' --no-keep")
    house.run("ask-clauses", f"sotto ask '{two} by day' --since 2010-03-13 --until 2010-03-15 --no-keep --explain")
    house.run("ask-clauses", f"sotto ask '{two} by hour' --since 2010-03-13 --until 2010-03-15 --no-keep --plot")
    house.run("ask-clauses", f"sotto ask '{two}, histogram(temperature, 7) by day' --no-keep --html page.html --explain")
    house.file("ask-clauses", "page.html")
    for name in ("daily", "pairs", "bins", "swing"):
        house.both("ask-declared", f"sotto ask {name} --no-keep")
    for function in ("energy(flow)", "sum(flow)", "moving_average(flow, 2)", "max(flow)", "weighted_sum(flow, [1, 2])"):
        house.run("ask-declared", f"sotto ask '{function} by hour' --no-keep")
    house.both("ask-declared", "sotto ask daily --plant fleet --no-keep")
    for clauses in ("", " by day per device", " where device in (ant, fly)", " by hour over 6h"):
        house.both("ask-declared", f"sotto ask 'mean(load), sum(load){clauses}' --plant fleet --no-keep")
    for function in ("count(level > 12.25)", "min(level), max(level), median(level)", "histogram(level, [0, 10, 15, 50])",
                     "time(level <= 12)", "mean(level)"):
        house.both("ask-comparable", f"sotto ask '{function} by day' --no-keep")
    for function in ("polynomial(temperature, [1, 0.5, 0.01]) where device in (boiler) until 2010-03-13",
                     "mean(polynomial(temperature, [1, 0.5, 0.01])) per device",
                     "sum(polynomial(temperature, [1, 0.5, 0.01])) by day where device in (tank)",
                     "mean(polynomial(temperature, [0, 1, 2]))",
                     "linear(model.json) where device in (legacy)", "mean(linear(model.json)) by day per device",
                     "count(linear(model.json) > 16) by day", "time(polynomial(temperature, [1, 0.5, 0.01]) > 45) per device",
                     "mean(linear(model.json)) shared"):
        house.both("ask-approximate", f"sotto ask '{function}' --no-keep")
    house.run("ask-approximate", "sotto ask curve --no-keep --json")


def refusing(house):
    """Questions and words that are refused."""
    for question in ("mean(temprature) by day", "mode(temperature)", "temperature > 80", "mean(temperature) by fortnight",
                     "mean(temperature", "", "mean(temperature) + mean(humidity)", "mean(temperature) / 0",
                     "mean(temperature) where device in (kettle)", "mean(linear(missing.json))", "nothing", "level",
                     "covariance(temperature, flow) by day", "moving_average(temperature, 3)", "mean(temperature) over 7d since 2025-01-01",
                     "mean(temperature) since 2025-13-01", "variance(flow) by hour", "mean(flow) by minute",
                     "covariance(temperature, level)", "quantile(temperature, 1.5)", "histogram(temperature, 0)",
                     "histogram(temperature, [5, 1])", "weighted_sum(temperature, [])", "weighted_sum(temperature, half_life x)",
                     "regression(temperature, humidity)", "mean(temperature) by day by week", "mean(temperature) as 1x",
                     "mean(temperature, humidity)", "linear(7)", "count(temperature = 3)", "range(temperature)",
                     "increase(flow)", "polynomial(temperature, [1])"):
        house.both("ask-refused", f"sotto ask {shlex.quote(question)} --no-keep")
    for line in ("sotto ask", "sotto ask daily --plant nowhere", "sotto ask daily --since yesterday", "sotto ask daily --unknown",
                 "sotto ask daily --html /nowhere/page.html --no-keep"):
        house.run("ask-refused", line)


def planning(house):
    house.run("plan", "sotto plan daily")
    for text in ("daily", "pairs", "bins", "model", "swing", "mean(level) by day", "count(level > 3) by day",
                 "mean(linear(model.json)) shared by day", "nothing"):
        house.run("plan", f"sotto plan '{text}' --json")
    for scheme in ("bfv", "bgv", "ckks"):
        house.run("plan", f"sotto plan 'sum(x*x)' --scheme {scheme}")
        house.run("plan", f"sotto plan 'x*y + 3' --scheme {scheme} --two-keys --json")
        house.run("plan", f"sotto plan 'sum(x)' --scheme {scheme} --public-key --magnitude 100 --width 8 --json")
    house.run("plan", "sotto plan 'sum(x' --scheme bfv")


def owner(house):
    """Commands of the owner on the kept plant that read, or write answers only."""
    names = sorted(path.stem for path in (house.folder / "plant/answers").glob("*.json"))
    house.both("status", "sotto status")
    house.both("status", "sotto status --plant fleet")
    named = house.environment.pop("SOTTO_PLANT")
    house.run("status", "sotto status")
    house.environment["SOTTO_PLANT"] = named
    for command in ("channel", "question", "device", "alarm"):
        house.both("lists", f"sotto {command} list")
    for alarm in ("warm", "damp", "nothing"):
        house.both("alarms", f"sotto alarm show {alarm}")
    house.run("alarms", "sotto alarm test warm")
    house.run("alarms", "sotto alarm test damp")
    house.both("answers", "sotto answers")
    for name in names:
        house.both("answers", f"sotto answers {name}")
        house.run("answers", f"sotto verify {name}")
        house.run("answers", f"sotto verify {name} --json")
    house.run("answers", f"sotto answers {names[0]} --plot")
    house.run("answers", f"sotto answers {names[0]} --html kept.html")
    house.file("answers", "kept.html")
    house.run("answers", "sotto answers nothing")
    house.run("answers", "sotto verify nothing")
    house.run("answers", "sotto verify --sample 2")
    house.run("answers", f"sotto verify {names[0]} --save saved")
    house.run("answers", "sotto verify --from saved")
    house.run("answers", "sotto verify --from saved --json")
    house.run("answers", "sotto verify --from nowhere")
    for more in ("", " --json", " --csv", " --round 1", " --flood", " --out published.txt"):
        house.run("answers", f"sotto publish {names[2]}{more}")
    house.run("answers", f"sotto publish {names[3]}")
    house.run("answers", "sotto publish nothing")
    house.both("cloud-keys", "sotto cloud show")
    house.run("cloud-keys", "sotto cloud pin nothing")
    house.run("cloud-keys", "sotto cloud pin " + "0" * 64)
    house.run("cloud-keys", "sotto cloud show")
    house.run("cloud-keys", "sotto cloud accept nobody")
    house.run("cloud-keys", "sotto cloud accept boiler")


def devices(house):
    """The agent with the kept bundles and spools."""
    url = f"http://127.0.0.1:{house.ports['plant']}"
    for device in DEVICES:
        house.both("agent", f"sotto-agent status --bundle {device}.bundle")
        name = {"pump": "pump-2", "kiln": "kiln-3"}.get(device, device)
        house.both("agent", f"sotto-agent check --bundle {device}.bundle --csv {name}.csv")
        house.both("agent", f"sotto-agent check --bundle {device}.bundle --spool fresh --csv {name}.csv")
    house.run("agent", "sotto-agent status --spool nowhere")
    house.both("agent", "sotto-agent check --bundle tank.bundle --json-lines tank.jsonl")
    # At most one new window a stream in each run: the sizes of several depend on the time at which they are sent.
    first = (house.folder / "tank.csv").read_text().splitlines(True)[:12]
    (house.folder / "tank-first.csv").write_text("".join(first))
    house.both("agent", "sotto-agent check --bundle tank.bundle --spool fresh --stdin --time when --column temperature=v",
               stdin="when;v\n12.03.2010 00:00;45,5\n12.03.2010 01:00;46,25\n12.03.2010 02:00;x\n")
    house.both("agent", "sotto-agent check --bundle tank.bundle --spool fresh --source generate --seed 3 --ticks 100")
    house.run("agent", f"sotto-agent run --bundle boiler.bundle --cloud {url} --csv boiler.csv")
    house.run("agent", f"sotto-agent run --bundle boiler.bundle --cloud {url} --csv boiler-more.csv --json")
    house.run("agent", f"sotto-agent run --bundle pump.bundle --cloud {url} --csv pump-2.csv")
    house.run("agent", f"sotto-agent run --bundle tank.bundle --cloud {url} --json-lines tank.jsonl --report report.json")
    house.file("agent", "report.json")
    house.run("agent", f"sotto-agent requeue --bundle kiln.bundle --cloud {url}")
    house.run("agent", f"sotto-agent requeue --bundle kiln.bundle --cloud {url}")
    house.run("agent", f"sotto-agent run --bundle kiln.bundle --cloud {url} --csv kiln-3.csv")
    profile = (f"--profile legacy.profile --cloud {url} --secret-key plant/secrets/legacy.key "
               "--signing-key plant/secrets/legacy.signing --spool legacy.spool")
    house.run("agent-profile", f"sotto-agent run {profile} --csv legacy.csv")
    house.run("agent-profile", f"sotto-agent run {profile} --csv boiler.csv --json")
    for device in ("pump", "kiln", "legacy"):
        house.run("agent", f"sotto-agent status --bundle {device}.bundle --json")
    shutil.rmtree(house.folder / "meter.spool")
    house.run("agent", f"sotto-agent run --bundle meter.bundle --cloud {url} --csv meter.csv")
    house.run("agent", "sotto-agent enrol --signing-key plant/secrets/tank.signing")
    (house.folder / "broken.bundle").write_bytes((house.folder / "tank.bundle").read_bytes()[:-1] + b"x")
    (house.folder / "broken.bundle").chmod(0o600)
    shutil.copy(house.folder / "tank.bundle", house.folder / "open.bundle")
    (house.folder / "open.bundle").chmod(0o644)
    for line in ("run --bundle missing.bundle --csv tank.csv", "run --bundle broken.bundle --csv tank.csv",
                 "run --bundle open.bundle --csv tank.csv", "run --bundle tank.bundle --csv missing.csv",
                 "run --bundle tank.bundle --csv flow.csv --column humidity=x", "run", "run --bundle tank.bundle --rows 0..1",
                 "run --bundle tank.bundle --secret-key x --csv tank.csv", "run --bundle tank.bundle --csv tank.csv --where x=1",
                 "check --bundle tank.bundle --spool fresh --csv tank.csv --time nothing",
                 "check --bundle tank.bundle --spool fresh --csv tank.csv --time-format %H",
                 "check --bundle tank.bundle --spool fresh --csv tank.csv --delimiter ;",
                 "check --bundle tank.bundle --spool fresh --csv meter.csv",
                 "check --bundle tank.bundle --spool fresh --csv tank.csv --start 2010-01-01",
                 "run --profile legacy.profile --csv legacy.csv", "requeue --bundle missing.bundle",
                 f"run --bundle tank.bundle --cloud http://192.0.2.1 --csv tank.csv",
                 f"run --bundle tank.bundle --cloud nonsense --csv tank.csv",
                 f"run --bundle tank.bundle --cloud {url} --cloud-key xyz --csv tank.csv"):
        house.run("agent-refused", f"sotto-agent {shlex.join(line.split())}")


def alarms(house):
    house.run("alarms", "sotto watch --once")
    house.run("alarms", "sotto watch --once --verify --json")
    house.both("alarms", "sotto alarm show warm")
    house.run("alarms", "sotto alarm add cold 'min(temperature) < 44' --since 2010-03-01")
    house.run("alarms", "sotto alarm add cold 'min(temperature) < 44'")
    for condition in ("temperature", "mean(nothing) > 3", "temperature > 80 for 0 windows", "mean(temperature) > 3 by day"):
        house.run("alarms", f"sotto alarm add wrong '{condition}'")
    house.run("alarms", "sotto alarm add wrong 'temperature > 50' --clear 60")
    house.run("alarms", "sotto alarm add wrong 'temperature > 50' --mqtt http://x")
    house.run("alarms", "sotto watch --once --json")
    house.run("alarms", "sotto alarm remove cold")
    house.run("alarms", "sotto alarm remove cold")
    for name in ("plant/alarms/alarms.jsonl", "warm.jsonl"):
        house.file("alarms", name)


def declaring(house):
    """Commands that write sotto.toml, devices and bundles."""
    group = "declare"
    for line in ("channel add pressure --unit bar --range 0..10 --resolution 0.01 --every 5m",
                 "channel add pressure --range 0..10 --resolution 0.01 --every 5m",
                 "channel add a --range 5..1 --resolution 0.1 --every 1m", "channel add a --range 0..x --resolution 0.1 --every 1m",
                 "channel add a --range 0..1 --resolution 0 --every 1m", "channel add a --range 0..1 --resolution 5 --every 1m",
                 "channel add a --range 0..1 --resolution 0.1 --every '5 minutes'",
                 "channel add 'a b' --range 0..1 --resolution 0.1 --every 5m",
                 "channel add door --range 0..1 --resolution 1 --every 1h",
                 "question add gauge 'mean(pressure), max(pressure) by hour' --precision 0.1",
                 "question add gauge 'mean(pressure)'", "question add bad 'mean(nothing)'", "question add bad 'mean('",
                 "question add strong 'count(linear(model.json) > 16) by day' --compare cloud",
                 "question list", "question remove strong", "question remove strong",
                 "device add gauge --channels pressure", "device add gauge --channels pressure",
                 "device add other --channels nothing", "device add 'a b' --channels pressure", "device add x --channels ''",
                 "device add other --channels pressure --bundle gauge.bundle", "device add other --channels pressure --json",
                 "device renew tank", "device renew tank --json", "device renew nobody", "device list", "device list --json",
                 "device remove other", "device remove other", "device list --json", "channel remove pressure",
                 "channel remove door", "channel remove nothing", "question remove gauge", "device remove gauge",
                 "channel remove pressure", "status --json"):
        house.run(group, f"sotto {line}")
    house.run(group, "sotto-agent status --bundle tank-2.bundle --json")
    house.run(group, f"sotto-agent run --bundle tank-2.bundle --cloud http://127.0.0.1:{house.ports['plant']} --csv tank-first.csv --json")
    house.run(group, "sotto ask 'mean(temperature), variance(temperature) per device' --no-keep")
    # A folder without the record of a device whose secret exists.
    record = house.folder / "plant/devices/tank.json"
    record.rename(house.folder / "tank.record")
    house.run(group, "sotto status")
    house.run(group, "sotto ask 'mean(temperature) per device' --no-keep")
    (house.folder / "tank.record").rename(record)
    settings = house.folder / "plant/sotto.toml"
    before = settings.read_text()
    house.file(group, "plant/sotto.toml")
    for old, new in (("resolution = 0.1", "resolutoin = 0.1"), ("every = \"1h\"", "every = \"1x\""), ("version = 1", "version = 9"),
                     ("America/Los_Angeles", "Europe/Atlantis"), ("mean(temperature), stddev", "mean(temprature), stddev"),
                     ("[channels.level]", "[channels.level"), ("temperature > 50 for", "temperature >> 50 for")):
        settings.write_text(before.replace(old, new, 1))
        house.both("settings", "sotto status")
        house.run("settings", "sotto question list")
        house.run("settings", "sotto plan daily")
    settings.write_text(before)


def making(house):
    """Commands that make a plant, certificates, keys and files."""
    group = "make"
    for line in ("sotto init plant", "sotto init new --time-zone Europe/Vienna --listen 127.0.0.1:7411",
                 "sotto init far --cloud https://localhost:7411", "sotto init bad --time-zone Europe/Atlantis",
                 "sotto init bad --cloud http://example.org", "sotto tls init --plant far", "sotto tls init --plant far",
                 "sotto tls renew --plant far --host example.org", "sotto tls renew --plant new", "sotto status --plant new",
                 "sotto plan --plant new", "sotto status --plant far", "sotto keys new owner.key", "sotto keys new owner.key",
                 "sotto keys device owner.key device.key", "sotto keys device missing.key x",
                 "sotto eval '3*4+3' --json", "sotto eval '2^3-1' --scheme bgv --json", "sotto eval '1.5*4+3' --scheme ckks --json",
                 "sotto eval '7*9' --plain-modulus 17 --signed --json", "sotto eval '3*' --json", "sotto eval '3+4' --degree 7",
                 "sotto eval '3+4' --scheme paillier --key-bits 2048 --json",
                 "sotto eval '3+4' --scheme elgamal-ristretto --json", "sotto demo --generate --seed 1 --ticks 30 --json"):
        house.run("make-approximate" if "ckks" in line or "demo" in line else group, line)
    for plant in ("new", "far"):
        for path in sorted((house.folder / plant).rglob("*")):
            house.note(group, str(path.relative_to(house.folder)), entry(path))
    with sqlite3.connect(house.folder / "plant/cloud/cloud.sqlite") as store:
        frames = store.execute("SELECT scheme, frame FROM parameters ORDER BY scheme, frame").fetchall()
    store.close()
    for number, (scheme, frame) in enumerate(frames):
        name = f"{scheme}-{number}"
        (house.folder / f"{name}.frame").write_bytes(frame)
        for compress in ("none", "zlib", "zstandard"):
            house.run("seal", f"sotto seal convert {name}.frame {name}.{compress} --compress {compress}")
        house.both("seal", f"sotto seal inspect {name}.zlib")
        house.run("seal", f"sotto seal convert {name}.zlib {name}.back")
        same = house.folder.joinpath(f"{name}.back")
        house.note("seal", f"{name}.back", f"{'the same' if same.exists() and same.read_bytes() == frame else 'another'}\n")
        house.note("seal", f"{name}.none", digest(house.folder / f"{name}.none"))
    house.run("seal", "sotto seal inspect tank.csv")
    house.run("seal", "sotto seal convert tank.bundle x")


def services(house):
    """Commands of the cloud that need no running one."""
    group = "cloud"
    house.run(group, "sotto-cloud openapi")
    house.run(group, "sotto-cloud openapi --markdown")
    house.run(group, "sotto-cloud config print-default")
    house.run(group, "sotto-cloud config validate plant/cloud.toml")
    house.run(group, "sotto-cloud config validate missing.toml")
    token = "owner_token_file = \"plant/secrets/owner-token\"\n"
    for text in ("listen = 7", "nothing = 1", "data = \"x\"", token + "data = \"x\"\nlisten = \"0.0.0.0:80\"",
                 token + "data = \"x\"\nqueue = -1", token + "data = \"x\"\nlargest_upload = 0", token + "data = \"x\"",
                 token + "data = \"x\"\n[tls]\ncertificate = \"a\"", "listen = [", token + "data = \"x\"\nworkers = 99999"):
        (house.folder / "cloud.toml").write_text(text)
        house.note(group, "cloud.toml", text + "\n")
        house.run(group, "sotto-cloud config validate cloud.toml")
    house.run(group, "sotto-cloud run")
    house.run(group, "sotto-cloud run --config missing.toml")
    house.run(group, "sotto-cloud run --config plant/cloud.toml")
    house.run(group, "sotto-cloud run --config cloud.toml --data nodata --owner-token-file missing")
    house.run(group, "sotto-cloud key --config plant/cloud.toml")


def keys(house):
    """Evaluation keys that questions have brought to the cloud."""
    with sqlite3.connect(house.folder / "plant/cloud/cloud.sqlite") as store:
        found = store.execute("SELECT hex(parameter_id), hex(key_id) FROM evaluation_keys ORDER BY 1, 2").fetchall()
    store.close()
    for parameters, key in found:
        path = f"/v1/keys/{parameters.lower()}/{key.lower()}"
        house.request("http-keys", "GET", path)
        house.request("http-keys", "GET", path, token=False)
        house.request("http-keys", "DELETE", f"{path}/transfers/{'0' * 32}")


LOST = (("devices/pump.json", ("status", "device renew pump", "device add pump --channels temperature")),
        ("secrets/pump.key", ("status", "device renew pump", "ask 'count(temperature) per device' --no-keep")),
        ("enrolments/pump.json", ("status", "device renew pump")),
        ("secrets/owner-token", ("status", "ask daily --no-keep")),
        ("logs", ("status", "ask daily --no-keep")),
        ("model.json", ("question list", "plan model")),
        ("sotto.toml", ("status", "channel list")))
# While the cloud is away, so that it keeps the device's registration.
LOST_AWAY = (("devices/pump.json", ("device add pump --channels temperature --bundle again.bundle", "device list")),)


def losing(house, cases):
    """Folders that lack a file of the plant."""
    for lost, lines in cases:
        shutil.copytree(house.folder / "plant", house.folder / "lost", ignore=shutil.ignore_patterns("cloud", "*.keys"))
        path = house.folder / "lost" / lost
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        secret = house.folder / "lost/secrets/pump.key"
        before = secret.exists() and secret.read_bytes()
        for line in lines:
            house.run("lost", f"sotto {line} --plant lost")
        same = before == (secret.exists() and secret.read_bytes())
        house.note("lost", lost, f"the secret of pump is {'as before' if same else 'another'}\n")
        shutil.rmtree(house.folder / "lost")
        for bundle in house.folder.glob("pump-*.bundle"):
            bundle.unlink()


def forgetting(house):
    house.run("forget", "sotto forget --device tank --before 2010-03-13")
    house.run("forget", "sotto forget --device tank --before 2010-03-13 --yes")
    house.run("forget", "sotto forget --device tank --before 2010-03-14 --yes --json")
    house.run("forget", "sotto forget --device nobody --all --yes")
    house.run("forget", "sotto forget --device tank --yes")
    house.both("forget", "sotto status")
    house.run("forget", "sotto answers")
    house.run("forget", "sotto ask 'mean(temperature) by day where device in (tank)' --no-keep")
    house.run("forget", "sotto verify")
    house.request("forget", "GET", "/v1/log?device=tank&stream=exact-1h")
    house.request("forget", "GET", "/readyz", token=False)


def away(house):
    """The cloud has stopped."""
    house.both("away", "sotto status")
    house.both("away", "sotto ask daily")
    for line in ("sotto verify", "sotto watch --once", "sotto cloud show", "sotto forget --device tank --all --yes",
                 "sotto device renew boiler"):
        house.run("away", line)
    config = "--config plant/cloud.toml"
    for line in (f"backup {config} --to backup", f"backup {config} --to backup", f"restore {config} --from nowhere",
                 f"restore {config} --from backup", f"rebuild {config}", f"restore {config} --from backup"):
        house.run("backup", f"sotto-cloud {line}")
    for path in (house.folder / "plant/cloud").iterdir():
        if path.name.startswith("cloud.sqlite"):
            path.unlink()
    house.run("backup", f"sotto-cloud run {config}")
    house.run("backup", f"sotto-cloud rebuild {config}")
    house.note("backup", "rows of the rebuilt store", rows(house, "plant"))


def digest(path):
    return f"{path.stat().st_size} bytes, sha256 {hashlib.sha256(path.read_bytes()).hexdigest()}\n" if path.exists() else "missing\n"


def entry(path):
    """Describes a file: its mode, and its size where that is no chance."""
    mode = f"{path.stat().st_mode & 0o777:o}"
    if path.is_dir():
        return f"folder {mode}\n"
    # DER has no fixed length, settings name a port of this run, answers have times in them.
    return f"{mode}\n" if path.suffix in (".pem", ".key", ".toml", ".evidence") or path.parent.name == "answers" else f"{mode} {path.stat().st_size} bytes\n"


def rows(house, plant):
    """Returns schema and rows of the store as text; hexadecimal digits of new rows are replaced by their number."""
    text = []
    with sqlite3.connect(house.folder / plant / "cloud/cloud.sqlite") as store:
        for name, sql in store.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name").fetchall():
            text.append(sql + ";")
        text.append(f"user_version {store.execute('PRAGMA user_version').fetchone()[0]}")
        for table, in store.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall():
            lines = []
            columns = [column[1] for column in store.execute(f"PRAGMA table_info({table})")]
            for row in store.execute(f"SELECT * FROM {table}"):
                cells = (f"{column}={'x' + value.hex() if isinstance(value, bytes) else value}"
                         for column, value in zip(columns, row) if column != "evaluate_us")
                lines.append(house.plain(" ".join(cells)).replace("=x", "="))
            text += [f"-- {table}: {len(lines)} rows", *sorted(lines)]
    store.close()
    return "\n".join(text) + "\n"


def stored(house):
    """Notes the files of plant and stores after all commands."""
    for plant in ("plant", "fleet"):
        house.note(f"stored-{plant}", "rows", rows(house, plant))
        lines = []
        for path in sorted((house.folder / plant).rglob("*")):
            name = house.plain(str(path.relative_to(house.folder)))
            if path.name.startswith("cloud.sqlite"):
                continue
            # Bodies that were kept have their digests; the others are random.
            kept = path.is_file() and path.stat().st_size > 0 and path.read_bytes() in house.binary
            more = "as kept, sha256 " + hashlib.sha256(path.read_bytes()).hexdigest() if kept else ""
            lines.append(f"{name}: {entry(path).strip()} {more}".strip())
        house.note(f"stored-{plant}", "files", "\n".join(sorted(lines)) + "\n")
    lines = []
    for path in sorted(house.folder.glob("*.spool/**/*")):
        lines.append(f"{house.plain(str(path.relative_to(house.folder)))}: {entry(path).strip()}")
    house.note("stored-spools", "files", "\n".join(sorted(lines)) + "\n")
    for path in sorted(house.folder.glob("*.spool/state.json")):
        house.file("stored-spools", path.relative_to(house.folder))


def everything(house):
    helps(house)
    house.environment["SOTTO_PLANT"] = str(house.folder / "plant")
    house.start("plant")
    house.start("fleet")
    listed = reading(house)
    sums(house, listed)
    uploads(house, listed)
    owner(house)
    asking(house)
    refusing(house)
    planning(house)
    services(house)
    devices(house)
    alarms(house)
    declaring(house)
    making(house)
    house.run("keeping", "sotto ask daily")
    house.run("keeping-approximate", "sotto ask 'mean(linear(model.json)) per device'")
    house.run("keeping", "sotto verify")
    house.run("keeping", "sotto verify --json")
    house.run("keeping", "sotto answers")
    keys(house)
    losing(house, LOST)
    forgetting(house)
    house.stop("plant")
    house.stop("fleet")
    losing(house, LOST_AWAY)
    stored(house)
    away(house)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder of sotto, sotto-agent, sotto-cloud")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--write", action="store_true", help="write the golden files")
    action.add_argument("--check", action="store_true", help="print differences; exit code 1 if there are any (default)")
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
        lines = list(difflib.unified_diff(kept.get(name, "").splitlines(), now.get(name, "").splitlines(),
                                          f"golden/{name}", f"now/{name}", lineterm=""))
        differences += bool(lines)
        if lines:
            print("\n".join(lines))
    count = sum(map(len, house.golden.values()))
    print(f"{count} commands and files, {differences} of {len(now)} golden files differ, {time.monotonic() - begin:.0f} s",
          file=sys.stderr)
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()
