"""Commands of the agent."""

import shlex
import shutil

from house import DEVICES

HOURS = [f"2010-03-12 {hour:02}:00" for hour in range(6)]
# Device, options, text of a file.
FORMATS = (
    ("tank", "--csv", "time,temperature\n" + "".join(f"{at},4{n}.5\n" for n, at in enumerate(HOURS))),
    (
        "tank",
        "--csv --time when --column temperature=v",
        "when;v\n12.03.2010 00:00;45,5\n12.03.2010 01:00;46,25\n12.03.2010 02:00;x\n",
    ),
    (
        "tank",
        "--csv --time when --column temperature=v --decimal-comma false",
        "when;v\n12.03.2010 00:00;45,5\n12.03.2010 01:00;46\n",
    ),
    ("tank", "--csv --delimiter tab", "time\ttemperature\n2010-03-12T00:00:00Z\t45\n2010-03-12T01:00:00Z\t46\n"),
    ("tank", "--csv --delimiter |", "time|temperature\n1268380800|45\n1268384400|46\n"),
    ("tank", "--csv", "time,temperature\n1268380800000,45\n1268384400000,46\n1268388000000,nan\n"),
    ("tank", "--csv --no-header --time 1 --column temperature=2", "2010-03-12 00:00,45\n2010-03-12 01:00,46\n"),
    (
        "tank",
        "--csv --time date --time hour",
        "date,hour,temperature\n2010-03-12,00:00,45\n2010-03-12,01:00,46\n2010-03-12,24:00,47\n",
    ),
    (
        "tank",
        "--csv --time-format %d/%m/%Y_%H:%M",
        "time,temperature\n12/03/2010_00:00,45\n12/03/2010_01:00,46\n03-12,47\n",
    ),
    ("tank", "--csv --start 2010-03-12T06:00", "temperature\n45\n46\n\n48\n"),
    (
        "tank",
        "--csv --where room=attic",
        "time,room,temperature\n2010-03-12 00:00,attic,45\n2010-03-12 00:00,cellar,46\n",
    ),
    ("tank", "--csv --where room=roof", "time,room,temperature\n2010-03-12 00:00,attic,45\n"),
    ("tank", "--csv --column temperature=t\u00b0 --encoding latin1", "time,t\u00b0\n2010-03-12 00:00,45\n"),
    ("tank", "--csv", 'time,temperature\n2010-03-12 00:00,"45\n2010-03-12 01:00,46\n'),
    ("tank", "--csv", "time,temperature\n2010-03-12 03:00,45\n2010-03-12 02:00,46\n2010-03-12 01:00,47\n"),
    (
        "tank",
        "--csv",
        "time,temperature\n2010-03-12 00:00,45\n2010-03-12 00:00,46\n2010-03-12 00:30,47\n2010-03-12 01:01,48\n",
    ),
    (
        "tank",
        "--csv",
        "time,temperature\n2010-11-07 00:00,45\n2010-11-07 01:00,46\n2010-11-07 01:00,47\n2010-11-07 02:00,48\n",
    ),
    ("tank", "--csv", "time,temperature\n2999-03-12 00:00,45\n2999-03-12 01:00,46\n"),
    ("tank", "--csv --allow-future", "time,temperature\n2999-03-12 00:00,45\n2999-03-12 01:00,46\n"),
    ("tank", "--csv", "time,temperature\n"),
    ("tank", "--csv", ""),
    ("tank", "--csv", "\ufefftime,temperature\r\n2010-03-12 00:00,45\r\n"),
    ("tank", "--csv", "a,b\n1,2\n"),
    ("tank", "--csv", "time,temperature,temperature\n2010-03-12 00:00,45,46\n"),
    ("tank", "--csv", "# a\ntime,temperature\n2010-03-12 00:00,1.234,5\n2010-03-12 01:00\n"),
    (
        "boiler",
        "--csv",
        "time,temperature,humidity\n2010-03-12 00:00,45,\n2010-03-12 01:00,,50\n2010-03-12 02:00,-30,101\n",
    ),
    ("boiler", "--csv --column humidity=temperature", "time,temperature\n2010-03-12 00:00,45\n"),
    ("boiler", "--csv --column h", "time,h\n2010-03-12 00:00,45\n"),
    (
        "boiler",
        "--json-lines",
        '{"time":"2010-03-12T00:00:00-08:00","temperature":45.25,"humidity":50}\n{"time":1268384400,"temperature":"46"}\n'
        '{"time":"2010-03-12T02:00:00-08:00","temperature":null,"humidity":NaN}\n[1]\nx\n{"temperature":1}\n',
    ),
    (
        "tank",
        "--json-lines --time t --column temperature=a.b",
        '{"t":1268380800000,"a":{"b":45}}\n{"t":1268384400000,"a.b":46}\n',
    ),
    ("tank", "--json-lines", '{"time":"2010-03-12 00:00","temperature":true}\n'),
    (
        "meter",
        "--csv",
        "time,flow\n2010-03-12T00:00:00-08:00,100.02\n2010-03-12T00:15:00-08:00,100.03\n2010-03-12T00:20:00-08:00,100.03\n",
    ),
)


def formats(house):
    """Every form of input, from a file and from standard input, checked and sent to no cloud."""
    for device, options, text in FORMATS:
        encoding = "latin-1" if "latin1" in options else "utf-8"
        (house.folder / "input").write_text(text, encoding=encoding, newline="")
        kind, *more = options.split()
        more = shlex.join(more)
        house.note("agent-formats", "input", text + "\n")
        house.both(
            "agent-formats", f"sotto-agent check --bundle {device}.bundle --spool fresh {kind} input {more}".strip()
        )
        if encoding == "utf-8":
            house.run(
                "agent-formats",
                f"sotto-agent check --bundle {device}.bundle --spool fresh --stdin {more}".strip(),
                stdin=text,
            )
    house.run(
        "agent-formats",
        "sotto-agent check --bundle boiler.bundle --spool fresh --csv kiln-1.csv --csv kiln-2.csv --json",
    )
    house.run(
        "agent-formats",
        "sotto-agent check --bundle boiler.bundle --spool fresh --csv kiln-2.csv --csv kiln-1.csv --json",
    )
    house.run(
        "agent-formats",
        "sotto-agent check --bundle boiler.bundle --spool fresh --csv kiln-1.csv --json-lines tank.jsonl",
    )


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
    house.run("agent", f"sotto-agent run --bundle boiler.bundle --cloud {url} --csv boiler.csv")
    house.run("agent", f"sotto-agent run --bundle boiler.bundle --cloud {url} --csv boiler-more.csv --json")
    house.run("agent", f"sotto-agent run --bundle pump.bundle --cloud {url} --csv pump-2.csv")
    house.run(
        "agent", f"sotto-agent run --bundle tank.bundle --cloud {url} --json-lines tank.jsonl --report report.json"
    )
    house.file("agent", "report.json")
    house.run(
        "agent",
        f"sotto-agent run --bundle well.bundle --cloud {url} --source generate --seed 3 --ticks 8 --column level=temperature "
        "--clear-log clear.json --json",
    )
    house.file("agent", "clear.json")
    house.run("agent", f"sotto-agent requeue --bundle kiln.bundle --cloud {url}")
    house.run("agent", f"sotto-agent requeue --bundle kiln.bundle --cloud {url}")
    house.run("agent", f"sotto-agent run --bundle kiln.bundle --cloud {url} --csv kiln-3.csv")
    profile = (
        f"--profile legacy.profile --cloud {url} --secret-key plant/secrets/legacy.key "
        "--signing-key plant/secrets/legacy.signing --spool legacy.spool"
    )
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
    for line in (
        "run --bundle missing.bundle --csv tank.csv",
        "run --bundle broken.bundle --csv tank.csv",
        "run --bundle open.bundle --csv tank.csv",
        "run --bundle tank.bundle --csv missing.csv",
        "run --bundle tank.bundle --csv flow.csv --column humidity=x",
        "run",
        "run --bundle tank.bundle --rows 0..1",
        "run --bundle tank.bundle --secret-key x --csv tank.csv",
        "run --bundle tank.bundle --csv tank.csv --where x=1",
        "check --bundle tank.bundle --spool fresh --csv tank.csv --time nothing",
        "check --bundle tank.bundle --spool fresh --csv tank.csv --time-format %H",
        "check --bundle tank.bundle --spool fresh --csv tank.csv --delimiter ;",
        "check --bundle tank.bundle --spool fresh --csv meter.csv",
        "check --bundle tank.bundle --spool fresh --csv tank.csv --start 2010-01-01",
        "run --profile legacy.profile --csv legacy.csv",
        "requeue --bundle missing.bundle",
        "run --bundle tank.bundle --cloud http://192.0.2.1 --csv tank.csv",
        "run --bundle tank.bundle --cloud nonsense --csv tank.csv",
        f"run --bundle tank.bundle --cloud {url} --cloud-key xyz --csv tank.csv",
    ):
        house.run("agent-refused", f"sotto-agent {shlex.join(line.split())}")
