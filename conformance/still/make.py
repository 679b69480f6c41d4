"""Makes kept.tar.xz: a plant, its filled cloud store, bundles, spools and input files.

Secrets and noise are drawn anew, so every fixture has golden files of its own: run it once, keep the result.
"""

import argparse
import csv
import json
import os
import pathlib
import shutil
import signal
import socket
import sqlite3
import subprocess
import tarfile
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
MODEL = {"intercept": 2.0, "coefficients": {"temperature": 0.5, "humidity": -0.25}}
LARGEST = 1_500_000  # bytes of the fixture


class Site:
    """A folder with a plant and a running cloud."""

    def __init__(self, programs, folder):
        self.programs, self.folder, self.cloud = programs, folder, None
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8"}

    def run(self, program, *arguments, fails=False, stdin=""):
        done = subprocess.run(
            [self.programs / program, *arguments],
            cwd=self.folder,
            env=self.environment,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
        )
        if (done.returncode != 0) != fails:
            raise SystemExit(
                f"{program} {' '.join(map(str, arguments))}: {done.returncode}\n{done.stdout}{done.stderr}"
            )
        print(f"$ {program} {' '.join(map(str, arguments))}\n{done.stdout}{done.stderr}", end="")
        return done.stdout

    def sotto(self, *arguments, **options):
        return self.run("sotto", *arguments, **options)

    def agent(self, device, *arguments, **options):
        return self.run("sotto-agent", "run", "--bundle", f"{device}.bundle", *arguments, **options)

    def start(self, plant="plant"):
        log = open(self.folder / "cloud.log", "a")
        self.cloud = subprocess.Popen(
            [self.programs / "sotto-cloud", "run", "--config", f"{plant}/cloud.toml"],
            cwd=self.folder,
            env=self.environment,
            stdout=log,
            stderr=log,
        )
        for _ in range(200):
            done = subprocess.run(
                [self.programs / "sotto", "status", "--plant", plant],
                cwd=self.folder,
                env=self.environment,
                capture_output=True,
            )
            if done.returncode == 0:
                return
            time.sleep(0.05)
        raise SystemExit("the cloud does not start: " + (self.folder / "cloud.log").read_text())

    def stop(self):
        self.cloud.send_signal(signal.SIGTERM)
        self.cloud.wait()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def rows(path, header, lines):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(lines)


def inputs(folder, datasets):
    """Writes the input files: real temperatures and humidities around the change of clocks of March 2010."""
    with open(datasets / "seattle-temps.csv") as file:
        temperatures = [(row["date"], row["temp"]) for row in csv.DictReader(file)]
    with open(datasets / "sensor-network.csv") as file:
        humidity = [row["humidity"] for row in csv.DictReader(file)][::61]
    with open(datasets / "water-flow.csv") as file:
        flow = [row["Water flow [l/s]"] for row in csv.DictReader(file)]
    first = next(at for at, row in enumerate(temperatures) if row[0] == "2010/03/12 00:00")
    spring = temperatures[first : first + 6 * 24]
    both = [(time, value, humidity[at]) for at, (time, value) in enumerate(spring)]
    rows(folder / "boiler.csv", ("time", "temperature", "humidity"), both[: 5 * 24])
    rows(folder / "boiler-more.csv", ("time", "temperature", "humidity"), both[: 6 * 24 - 2])
    # Gaps, an empty cell, a text, a value out of range, a row twice, a row too late.
    gaps = [list(row) for at, row in enumerate(spring[: 4 * 24]) if not 30 <= at < 41 and at % 17 != 5]
    gaps[3][1], gaps[9][1], gaps[12][1] = "", "broken", "999"
    gaps.insert(20, gaps[19])
    gaps.insert(40, gaps[2])
    rows(folder / "tank.csv", ("time", "temperature"), gaps)
    rows(folder / "legacy.csv", ("time", "temperature", "humidity"), both[:24])
    for name, device in (
        ("pump-1", both[:24]),
        ("pump-2", both[:60]),
        ("kiln-1", both[:24]),
        ("kiln-2", both[:48]),
        ("kiln-3", both[:24] + both[48:72]),
    ):
        rows(folder / f"{name}.csv", ("time", "temperature", "humidity"), device)
    day = [f"2010-03-12T{at // 4:02}:{at % 4 * 15:02}:00-08:00" for at in range(96)]
    rows(folder / "meter.csv", ("time", "flow"), [(day[at], flow[at]) for at in range(40) if at not in (9, 10)])
    level = [(f"2010-03-12 {at:02}:00", 10 + (at * 7) % 23 * 0.5) for at in range(24) if at != 6]
    rows(folder / "well.csv", ("time", "level"), level)
    with open(folder / "tank.jsonl", "w") as file:
        for at, (_, value) in enumerate(spring[96:108]):
            file.write(json.dumps({"time": f"2010-03-16T{at:02}:00:00-07:00", "temperature": float(value)}) + "\n")


def legacy(plant):
    """Turns the device `legacy` into one that sends envelopes of version 1: compact sums, and whole ciphertexts of reals.

    Returns the streams of its profile.
    """
    record, enrolment = plant / "devices/legacy.json", plant / "enrolments/legacy.json"
    device = json.loads(record.read_text())
    for stream in device["bundles"][-1]["streams"]:
        del stream["envelope"]
        stream.pop("slots", None)
    record.write_text(json.dumps(device, indent=2))
    entry = json.loads(enrolment.read_text())
    entry["streams"] = []
    enrolment.write_text(json.dumps(entry, indent=2))
    return device["bundles"][-1]["streams"]


def main_plant(site):
    plant, listen = site.folder / "plant", f"127.0.0.1:{free_port()}"
    site.sotto("init", "plant", "--time-zone", "America/Los_Angeles", "--listen", listen)
    for name, unit, span, step, every, *more in (
        ("temperature", "°F", "-20..120", "0.1", "1h"),
        ("humidity", "%", "0..100", "1", "1h"),
        ("level", "cm", "0..50", "0.5", "1h", "--comparable"),
        ("flow", "l/s", "0..200", "0.05", "15m"),
    ):
        site.sotto(
            "channel", "add", name, "--unit", unit, "--range", span, "--resolution", step, "--every", every, *more
        )
    (plant / "model.json").write_text(json.dumps(MODEL))
    for name, text, *more in (
        ("daily", "mean(temperature), stddev(temperature) by day"),
        ("pairs", "mean(humidity), covariance(temperature, humidity), regression(humidity ~ temperature) by day"),
        (
            "bins",
            "count(temperature > 50), max(temperature), min(temperature), quantile(temperature, 0.9), "
            "histogram(temperature, 7) by day",
        ),
        ("model", "linear(model.json) by day"),
        ("curve", "polynomial(temperature, [1, 0.5, 0.01]) by day per device", "--precision", "0.02"),
        ("swing", "energy(flow), moving_average(flow, 3), max(flow) by hour"),
    ):
        site.sotto("question", "add", name, text, *more)
    site.sotto(
        "alarm",
        "add",
        "warm",
        "temperature > 50 for 2 windows",
        "--clear",
        "48",
        "--clear-after",
        "1",
        "--since",
        "2010-03-01",
        "--exec",
        "cat >> ../warm.jsonl",
    )
    site.sotto("alarm", "add", "damp", "mean(humidity) > 45", "--since", "2010-03-01")
    devices = {
        "boiler": "temperature,humidity",
        "tank": "temperature",
        "meter": "flow",
        "well": "level",
        "legacy": "temperature,humidity",
        "pump": "temperature,humidity",
        "kiln": "temperature,humidity",
    }
    for device, channels in devices.items():
        site.sotto("device", "add", device, "--channels", channels)
    streams = legacy(plant)
    # Ended jobs must not be deleted by their age.
    with open(plant / "cloud.toml", "a") as settings:
        settings.write("keep_jobs = 0\n")
    site.start()
    # An older copy of the spool numbers its windows again: the cloud refuses them, and they are put aside.
    kiln = site.folder / "kiln.spool"
    site.agent("kiln", "--csv", "kiln-1.csv")
    shutil.copytree(kiln, site.folder / "older")
    site.agent("kiln", "--csv", "kiln-2.csv")
    shutil.rmtree(kiln)
    (site.folder / "older").rename(kiln)
    site.agent("kiln", "--csv", "kiln-3.csv", fails=True)
    site.agent("pump", "--csv", "pump-1.csv")
    site.agent("boiler", "--csv", "boiler.csv")
    site.agent("tank", "--csv", "tank.csv")
    site.agent("meter", "--csv", "meter.csv")
    site.agent("well", "--csv", "well.csv")
    profile = {"device": "legacy", "period_ms": 3_600_000, "zone": "America/Los_Angeles", "streams": streams}
    (site.folder / "legacy.profile").write_text(json.dumps(profile))
    site.run(
        "sotto-agent",
        "run",
        "--profile",
        "legacy.profile",
        "--cloud",
        f"http://{listen}",
        "--secret-key",
        "plant/secrets/legacy.key",
        "--signing-key",
        "plant/secrets/legacy.signing",
        "--spool",
        "legacy.spool",
        "--csv",
        "legacy.csv",
    )
    site.sotto("ask", "daily")
    site.sotto("ask", "bins")
    site.sotto("ask", "pairs", "--since", "2010-03-12", "--until", "2010-03-15")
    site.sotto("verify")
    site.sotto("ask", "mean(polynomial(temperature, [1, 0.5, 0.01])) where device in (boiler)", "--until", "2010-03-14")
    site.sotto("watch", "--once")
    site.stop()
    # The cloud is away: messages stay in the spool.
    waiting = subprocess.Popen(
        [site.programs / "sotto-agent", "run", "--bundle", "pump.bundle", "--csv", "pump-2.csv"],
        cwd=site.folder,
        env=site.environment,
    )
    time.sleep(4)
    waiting.send_signal(signal.SIGTERM)
    waiting.wait()


def fleet_plant(site):
    """Makes the plant `fleet`, whose devices share masks."""
    plant = site.folder / "fleet"
    site.sotto("init", "fleet", "--listen", f"127.0.0.1:{free_port()}")
    settings = plant / "sotto.toml"
    settings.write_text(settings.read_text().replace("# share_masks = true", "share_masks = true"))
    site.sotto(
        "channel",
        "add",
        "load",
        "--unit",
        "kW",
        "--range",
        "0..10",
        "--resolution",
        "0.1",
        "--every",
        "1h",
        "--plant",
        "fleet",
    )
    site.sotto("question", "add", "daily", "mean(load) by day", "--plant", "fleet")
    site.start("fleet")
    for number, device in enumerate(("ant", "bee", "fly")):
        site.sotto("device", "add", device, "--channels", "load", "--plant", "fleet")
        lines = [(f"2025-01-{1 + at // 24:02}T{at % 24:02}:00:00Z", (at * (number + 3)) % 97 / 10) for at in range(48)]
        rows(site.folder / f"{device}.csv", ("time", "load"), lines)
        site.agent(device, "--csv", f"{device}.csv")
    site.sotto("ask", "daily", "--plant", "fleet")
    site.stop()


def without_evaluation_keys(plant):
    """Deletes evaluation keys, which the owner makes and sends again: 5 MB of random bytes for each key."""
    shutil.rmtree(plant / "evaluation-keys")
    (plant / "evaluation-keys.json").unlink()
    for file in (plant / "cloud/keys").iterdir():
        file.unlink()
    with sqlite3.connect(plant / "cloud/cloud.sqlite") as store:
        store.execute("DELETE FROM evaluation_keys")
    store.close()


def pack(folder, target):
    """Writes the fixture, with owner, group and times left out."""

    def plain(entry):
        entry.uid = entry.gid = entry.mtime = 0
        entry.uname = entry.gname = ""
        return entry

    with tarfile.open(target, "w:xz", preset=9) as archive:
        for path in sorted(folder.iterdir()):
            if path.name != "cloud.log":
                archive.add(path, path.name, filter=plain)
    size = target.stat().st_size
    print(f"{target}: {size} bytes")
    if size > LARGEST:
        raise SystemExit(f"the fixture has more than {LARGEST} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder of sotto, sotto-agent, sotto-cloud")
    parser.add_argument(
        "--datasets", type=pathlib.Path, required=True, help="folder of seattle-temps.csv and the others"
    )
    parser.add_argument("--to", type=pathlib.Path, default=HERE / "kept.tar.xz")
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        inputs(folder, arguments.datasets)
        site = Site(arguments.bin.resolve(), folder)
        main_plant(site)
        fleet_plant(site)
        without_evaluation_keys(folder / "plant")
        pack(folder, arguments.to)
    finally:
        if site.cloud and site.cloud.poll() is None:
            site.cloud.kill()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
