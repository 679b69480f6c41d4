"""Wrong questions, clouds that are away or lie, wrong keys, interruptions."""

import os
import shutil
import signal
import sys

import numpy as np
import pytest
import sotto as st
from plant_session import Relay, free_port

pd = pytest.importorskip("pandas")


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("mean(temprature) by day", r"column 6: there is no channel temprature.*temperature"),
        ("mean(temperature", "column 17: expected"),
        ("weekly", "there is no question weekly.*declared: curve, daily, line"),
        ("mean(temperature) by day of attic", "column"),
        ("rms(temperature) + mean(humidity)", "units|unit"),
        ("polynomial(humidity, [0, 0, 1])", "no device sends the stream that it needs"),
        ("", "column 1"),
        ("mean(" * 10_000, "column"),
        ("mean(temperature)\0", "column"),
    ],
)
def test_wrong_questions(cloud, question, message):
    with pytest.raises(st.QuestionError, match=f"(?s){message}"):
        cloud.ask(question)
    assert issubclass(st.QuestionError, (st.SottoError, ValueError))


def test_no_plant(tmp_path, monkeypatch, session):
    with pytest.raises(st.PlantError, match="is no plant: there is no sotto.toml"):
        st.Cloud(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SOTTO_PLANT", raising=False)
    with pytest.raises(st.PlantError, match="is no plant"):
        st.Cloud()
    (tmp_path / "sotto.toml").write_text("version = 1\nclouds = 3\n")
    with pytest.raises(st.PlantError, match="sotto.toml cannot be read"):
        st.Cloud(tmp_path)
    monkeypatch.setenv("SOTTO_PLANT", str(session.plant))
    assert st.Cloud().folder == str(session.plant)
    monkeypatch.delenv("SOTTO_PLANT")
    monkeypatch.chdir(session.plant / "devices")
    assert st.Cloud().folder == str(session.plant)


def test_a_folder_that_vanishes(session):
    cloud = st.Cloud(session.copy("vanishing"))
    shutil.rmtree(session.folder / "vanishing")
    with pytest.raises(st.PlantError, match="is no plant"):
        cloud.ask("daily")


def test_away(session):
    port = free_port()
    cloud = st.Cloud(session.copy_at("away", port))
    for request in [lambda: cloud.ask("daily"), cloud.status]:
        with pytest.raises(st.CloudAway, match=f"127.0.0.1:{port} cannot be reached.*started"):
            request()
    assert issubclass(st.CloudAway, (st.CloudError, ConnectionError))
    # Needs no cloud.
    assert set(cloud.plan("daily")) == {"boiler", "pump"}


def test_a_wrong_token(session):
    folder = session.copy("strange")
    (folder / "secrets/owner-token").write_text("0" * 64)
    with pytest.raises(st.CloudError, match="refused") as refused:
        st.Cloud(folder).ask("daily")
    assert not isinstance(refused.value, st.CloudAway) and "0" * 16 not in str(refused.value)


def test_wrong_keys(session):
    folder = session.copy("exchanged")
    boiler, pump = (folder / f"secrets/{name}.key" for name in ("boiler", "pump"))
    shutil.copyfile(pump, boiler)
    answer = st.Cloud(folder).ask("mean(humidity) by day")
    # No window is under this key: the answer has no value, and says why.
    assert len(answer.dropna()) == 0 and "not made with a bundle" in repr(answer)
    boiler.write_bytes(b"not a key")
    with pytest.raises(st.PlantError, match="boiler.key is not a key file|boiler.key"):
        st.Cloud(folder).ask("mean(humidity) by day")
    shutil.copyfile(session.plant / "secrets/boiler.key", boiler)
    boiler.chmod(0o644)
    with pytest.raises(st.PlantError, match="can be read by others.*chmod 600"):
        st.Cloud(folder).ask("mean(humidity) by day")
    boiler.unlink()
    assert "secrets/boiler.key is missing" in repr(st.Cloud(folder).ask("mean(humidity) by day"))


def test_a_passphrase(session, monkeypatch):
    monkeypatch.delenv("SOTTO_PASSPHRASE_FILE", raising=False)
    folder = session.copy("sealed")
    file = session.folder / "passphrase"
    file.touch(mode=0o600)
    file.write_text("correct horse\n")
    session.run(
        "sotto", "passphrase", "set", "--plant", str(folder), "--passphrase-file", str(file)
    )
    locked = st.Cloud(folder)
    assert locked.status()
    with pytest.raises(st.PlantError, match="under a passphrase"):
        locked.ask("daily")
    expected = st.Cloud(session.plant).ask("daily").dropna()
    assert st.Cloud(folder, passphrase_file=file).ask("daily").dropna().equals(expected)
    monkeypatch.setenv("SOTTO_PASSPHRASE_FILE", str(file))
    assert st.Cloud(folder).ask("daily").dropna().equals(expected)
    file.write_text("battery staple")
    with pytest.raises(st.PlantError, match="does not open"):
        st.Cloud(folder).ask("daily")


def test_another_signer(session):
    folder = session.copy("forged")
    settings = folder / "sotto.toml"
    lines = settings.read_text().splitlines()
    pinned = next(line for line in lines if line.startswith("keys = "))
    # Any other point of the curve will do: that of the base point.
    other = 'keys = ["58' + "66" * 31 + '"]'
    settings.write_text("\n".join(lines).replace(pinned, other))
    with pytest.raises(st.NotTrusted, match="not to be believed"):
        st.Cloud(folder).ask("daily")


def test_progress(cloud):
    seen = []
    answer = cloud.ask("daily", progress=lambda done, total: seen.append((done, total)))
    # The total counts all windows of the time, the question takes those of one stream.
    assert seen and seen == sorted(seen) and len({total for _, total in seen}) == 1
    assert seen[-1][0] == answer.attrs["cost"]["windows"] <= seen[-1][1]
    before = cloud.answers()
    with pytest.raises(ZeroDivisionError):
        cloud.ask("daily", progress=lambda done, total: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        cloud.verify(answer, progress=lambda done, total: 1 // 0)
    assert cloud.answers() == before


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("at", [1, 3])
def test_an_interrupt(session, at):
    """Ctrl-C arrives while the owner waits for an answer: it gets that one and asks no more."""
    # A background job of a shell starts with SIGINT ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    relay = Relay(session.port, lambda n: os.kill(os.getpid(), signal.SIGINT) if n == at else None)
    folder = session.copy_at(f"interrupted-{at}", relay.port)
    cloud = st.Cloud(folder)
    with pytest.raises(KeyboardInterrupt):
        cloud.ask("daily")
    assert relay.requests == at and cloud.answers() == []
    # The same plant answers afterwards.
    found = cloud.ask("daily")["mean(temperature)"].to_numpy()
    assert np.isfinite(found).any() and len(cloud.answers()) == 1
    relay.close()
    signal.signal(signal.SIGINT, before)
