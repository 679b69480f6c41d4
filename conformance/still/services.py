"""Help, commands of the cloud, and commands without one."""

import re
import subprocess

from stored import rows


def helps(house):
    """Notes the help of every command, found by the lists of commands in the help itself."""

    def tree(program, path=()):
        done = subprocess.run(
            [house.programs / program, *path, "--help"], env=house.environment, capture_output=True, text=True
        )
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


def services(house):
    """Commands of the cloud that need no running one."""
    group = "cloud"
    house.run(group, "sotto-cloud openapi")
    house.run(group, "sotto-cloud openapi --markdown")
    house.run(group, "sotto-cloud config print-default")
    house.run(group, "sotto-cloud config validate plant/cloud.toml")
    house.run(group, "sotto-cloud config validate missing.toml")
    token = 'owner_token_file = "plant/secrets/owner-token"\n'
    for text in (
        "listen = 7",
        "nothing = 1",
        'data = "x"',
        token + 'data = "x"\nlisten = "0.0.0.0:80"',
        token + 'data = "x"\nqueue = -1',
        token + 'data = "x"\nlargest_upload = 0',
        token + 'data = "x"',
        token + 'data = "x"\n[tls]\ncertificate = "a"',
        "listen = [",
        token + 'data = "x"\nworkers = 99999',
    ):
        (house.folder / "cloud.toml").write_text(text)
        house.note(group, "cloud.toml", text + "\n")
        house.run(group, "sotto-cloud config validate cloud.toml")
    house.run(group, "sotto-cloud run")
    house.run(group, "sotto-cloud run --config missing.toml")
    house.run(group, "sotto-cloud run --config plant/cloud.toml")
    house.run(group, "sotto-cloud run --config cloud.toml --data nodata --owner-token-file missing")
    house.run(group, "sotto-cloud key --config plant/cloud.toml")


def away(house):
    """The cloud has stopped."""
    house.both("away", "sotto status")
    house.both("away", "sotto ask daily")
    for line in (
        "sotto verify",
        "sotto watch --once",
        "sotto cloud show",
        "sotto forget --device tank --all --yes",
        "sotto device renew boiler",
    ):
        house.run("away", line)
    config = "--config plant/cloud.toml"
    for line in (
        f"backup {config} --to backup",
        f"backup {config} --to backup",
        f"restore {config} --from nowhere",
        f"restore {config} --from backup",
        f"rebuild {config}",
        f"restore {config} --from backup",
    ):
        house.run("backup", f"sotto-cloud {line}")
    for path in (house.folder / "plant/cloud").iterdir():
        if path.name.startswith("cloud.sqlite"):
            path.unlink()
    house.run("backup", f"sotto-cloud run {config}")
    house.run("backup", f"sotto-cloud rebuild {config}")
    house.note("backup", "rows of the rebuilt store", rows(house, "plant"))
