"""A plant with its cloud, in a folder of its own: real processes, as an owner starts them."""

import http.client
import json
import os
import shlex
import shutil
import socket
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PROGRAMS = os.environ.get("SOTTO_PROGRAMS")
WHY_NOT = "SOTTO_PROGRAMS names no folder with sotto, sotto-agent and sotto-cloud"

ZONE = "Europe/Rome"
#: The channels of each device.
DEVICES = {"boiler": ["temperature", "humidity"], "pump": ["temperature"]}


def free_port():
    """Return a port that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Session:
    """A folder with a plant, and commands in it."""

    def __init__(self, folder):
        """Take the folder."""
        self.folder, self.port, self.cloud = Path(folder), free_port(), None

    @property
    def plant(self):
        """Return the plant's folder."""
        return self.folder / "plant"

    def run(self, *words):
        """Run one of the programs; return its output."""
        path = str(Path(PROGRAMS) / words[0])
        done = subprocess.run(
            [path, *words[1:]], cwd=self.folder, capture_output=True, text=True, timeout=300
        )
        # Exit code 4 of the agent: some of the rows were left out, as the test wants them.
        right = [0, 4] if words[:2] == ("sotto-agent", "run") else [0]
        assert done.returncode in right, f"{' '.join(words)}: {done.stdout}{done.stderr}"
        return done.stdout

    def type(self, line):
        """Run a line as typed in a shell; a cloud in the background, at this session's port."""
        words = shlex.split(line)
        if words[:2] == ["sotto", "init"]:
            self.init()
        elif words[0] == "sotto-cloud":
            assert words[1:] == ["run", "--config", "plant/cloud.toml", "&"]
            self.start()
        else:
            self.run(*words)

    def init(self, *options):
        """Make the plant, with a cloud at a free port."""
        self.run("sotto", "init", "plant", "--listen", f"127.0.0.1:{self.port}", *options)

    def start(self):
        """Start the cloud, and wait until it listens."""
        command = [str(Path(PROGRAMS) / "sotto-cloud"), "run", "--config", "plant/cloud.toml"]
        with (self.folder / "cloud.log").open("ab") as log:
            self.cloud = subprocess.Popen(command, cwd=self.folder, stderr=log, stdout=log)
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            assert self.cloud.poll() is None, (self.folder / "cloud.log").read_text()
            time.sleep(0.05)
        raise AssertionError("the cloud does not listen")

    def stop(self):
        """Stop the cloud."""
        if self.cloud is not None:
            self.cloud.terminate()
            self.cloud.wait(30)

    def json(self, *words):
        """Return the document that `sotto … --json` prints."""
        return json.loads(self.run("sotto", *words, "--json"))

    def copy(self, name):
        """Copy the plant's folder, without the cloud's data."""
        ignored = shutil.ignore_patterns("cloud", "answers")
        copied = shutil.copytree(self.plant, self.folder / name, ignore=ignored)
        (copied / "answers").mkdir()
        return copied

    def copy_at(self, name, port):
        """Copy the plant's folder; the copy's cloud is at another port."""
        copied = self.copy(name)
        settings = copied / "sotto.toml"
        text = settings.read_text().replace(f"127.0.0.1:{self.port}", f"127.0.0.1:{port}")
        settings.write_text(text)
        return copied


class Relay:
    """Stands between an owner and the cloud, and calls a function before each request."""

    def __init__(self, port, before):
        """Take the cloud's port, and the function of the number of requests so far."""
        relay = self
        self.requests = 0

        class Handler(BaseHTTPRequestHandler):
            def answer(self):
                relay.requests += 1
                before(relay.requests)
                length = int(self.headers.get("content-length", 0))
                onward = http.client.HTTPConnection("127.0.0.1", port)
                headers = {k: v for k, v in self.headers.items() if k.lower() != "host"}
                onward.request(self.command, self.path, self.rfile.read(length), headers)
                answer = onward.getresponse()
                body = answer.read()
                try:
                    self.send_response(answer.status)
                    for name, value in answer.getheaders():
                        if name.lower() not in ("transfer-encoding", "content-length", "date"):
                            self.send_header(name, value)
                    self.send_header("content-length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    # The owner may be gone.
                    self.close_connection = True

            do_GET = do_PUT = do_POST = do_DELETE = answer

            def log_message(self, *_):
                """Stay silent."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
