"""Commands of the owner that declare, make, lose and forget."""

import shutil
import sqlite3

from stored import digest, entry


def alarms(house):
    house.run("alarms", "sotto watch --once")
    house.run("alarms", "sotto watch --once --verify --json")
    house.both("alarms", "sotto alarm show warm")
    house.run("alarms", "sotto alarm add cold 'min(temperature) < 44' --since 2010-03-01")
    house.run("alarms", "sotto alarm add cold 'min(temperature) < 44'")
    for condition in (
        "temperature",
        "mean(nothing) > 3",
        "temperature > 80 for 0 windows",
        "mean(temperature) > 3 by day",
    ):
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
    for line in (
        "channel add pressure --unit bar --range 0..10 --resolution 0.01 --every 5m",
        "channel add pressure --range 0..10 --resolution 0.01 --every 5m",
        "channel add a --range 5..1 --resolution 0.1 --every 1m",
        "channel add a --range 0..x --resolution 0.1 --every 1m",
        "channel add a --range 0..1 --resolution 0 --every 1m",
        "channel add a --range 0..1 --resolution 5 --every 1m",
        "channel add a --range 0..1 --resolution 0.1 --every '5 minutes'",
        "channel add 'a b' --range 0..1 --resolution 0.1 --every 5m",
        "channel add door --range 0..1 --resolution 1 --every 1h",
        "question add gauge 'mean(pressure), max(pressure) by hour' --precision 0.1",
        "question add gauge 'mean(pressure)'",
        "question add bad 'mean(nothing)'",
        "question add bad 'mean('",
        "question add strong 'count(linear(model.json) > 16) by day' --compare cloud",
        "question list",
        "question remove strong",
        "question remove strong",
        "device add gauge --channels pressure",
        "device add gauge --channels pressure",
        "device add other --channels nothing",
        "device add 'a b' --channels pressure",
        "device add x --channels ''",
        "device add other --channels pressure --bundle gauge.bundle",
        "device add other --channels pressure --json",
        "device renew tank",
        "device renew tank --json",
        "device renew nobody",
        "device list",
        "device list --json",
        "device remove other",
        "device remove other",
        "device list --json",
        "channel remove pressure",
        "channel remove door",
        "channel remove nothing",
        "question remove gauge",
        "device remove gauge",
        "channel remove pressure",
        "status --json",
    ):
        house.run(group, f"sotto {line}")
    house.run(group, "sotto-agent status --bundle tank-2.bundle --json")
    house.run(
        group,
        f"sotto-agent run --bundle tank-2.bundle --cloud http://127.0.0.1:{house.ports['plant']} --csv tank-first.csv --json",
    )
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
    for old, new in (
        ("resolution = 0.1", "resolutoin = 0.1"),
        ('every = "1h"', 'every = "1x"'),
        ("version = 1", "version = 9"),
        ("America/Los_Angeles", "Europe/Atlantis"),
        ("mean(temperature), stddev", "mean(temprature), stddev"),
        ("[channels.level]", "[channels.level"),
        ("temperature > 50 for", "temperature >> 50 for"),
    ):
        settings.write_text(before.replace(old, new, 1))
        house.both("settings", "sotto status")
        house.run("settings", "sotto question list")
        house.run("settings", "sotto plan daily")
    settings.write_text(before)


def making(house):
    """Commands that make a plant, certificates, keys and files."""
    group = "make"
    for line in (
        "sotto init plant",
        "sotto init new --time-zone Europe/Vienna --listen 127.0.0.1:7411",
        "sotto init far --cloud https://localhost:7411",
        "sotto init bad --time-zone Europe/Atlantis",
        "sotto init bad --cloud http://example.org",
        "sotto tls init --plant far",
        "sotto tls init --plant far",
        "sotto tls renew --plant far --host example.org",
        "sotto tls renew --plant new",
        "sotto status --plant new",
        "sotto plan --plant new",
        "sotto status --plant far",
        "sotto keys new owner.key",
        "sotto keys new owner.key",
        "sotto keys device owner.key device.key",
        "sotto keys device missing.key x",
        "sotto eval '3*4+3' --json",
        "sotto eval '2^3-1' --scheme bgv --json",
        "sotto eval '1.5*4+3' --scheme ckks --json",
        "sotto eval '7*9' --plain-modulus 17 --signed --json",
        "sotto eval '3*' --json",
        "sotto eval '3+4' --degree 7",
        "sotto eval '3+4' --scheme paillier --key-bits 2048 --json",
        "sotto eval '3+4' --scheme elgamal-ristretto --json",
        "sotto demo --generate --seed 1 --ticks 30 --json",
    ):
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
        house.note(
            "seal", f"{name}.back", f"{'the same' if same.exists() and same.read_bytes() == frame else 'another'}\n"
        )
        house.note("seal", f"{name}.none", digest(house.folder / f"{name}.none"))
    house.run("seal", "sotto seal inspect tank.csv")
    house.run("seal", "sotto seal convert tank.bundle x")


LOST = (
    ("devices/pump.json", ("status", "device renew pump", "device add pump --channels temperature")),
    ("secrets/pump.key", ("status", "device renew pump", "ask 'count(temperature) per device' --no-keep")),
    ("enrolments/pump.json", ("status", "device renew pump")),
    ("secrets/owner-token", ("status", "ask daily --no-keep")),
    ("logs", ("status", "ask daily --no-keep")),
    ("model.json", ("question list", "plan model")),
    ("sotto.toml", ("status", "channel list")),
)
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
