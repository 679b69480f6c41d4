"""The unpacked fixture with running clouds, and the text of the golden files."""

import hashlib
import http.client
import os
import pathlib
import re
import shlex
import signal
import socket
import sqlite3
import subprocess
import tarfile
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
    (
        r"(?m)\d+(?:\.\d+)? (?:ns|µs|ms|s)( of computing| for the| from question|$| in all| here| in the cloud)",
        r"<duration>\1",
    ),
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
                tables = [name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
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
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "TMPDIR": str(folder),
            "LANG": "C.UTF-8",
            "SOTTO_PASSPHRASE": "correct horse",
        }
        self.ports = {}
        for plant in ("plant", "fleet"):
            self.ports[plant] = free_port()
            for name in ("sotto.toml", "cloud.toml"):
                file = folder / plant / name
                file.write_text(re.sub(r"127\.0\.0\.1:\d+", f"127.0.0.1:{self.ports[plant]}", file.read_text()))

    def start(self, plant):
        with open(self.folder / f"{plant}.log", "a") as log:
            self.clouds[plant] = subprocess.Popen(
                [self.programs / "sotto-cloud", "run", "--config", f"{plant}/cloud.toml"],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
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
        done = subprocess.run(
            [self.programs / program, *arguments],
            cwd=self.folder,
            env=self.environment,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
        )
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
        return NUMBER.sub("", one) == NUMBER.sub("", other) and all(
            abs(float(a) - float(b)) < TOLERANCE for a, b in pairs
        )

    return "\n".join(a if same(a, b) else b for a, b in zip(old, new)) + "\n"
