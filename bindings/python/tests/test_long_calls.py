"""Long calls can be interrupted, and show how far they are."""

import os
import pty
import select
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
import sotto as st

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and terminals of POSIX systems")


def script(body):
    return [sys.executable, "-c", textwrap.dedent(body)]


INTERRUPTED = """
    import signal
    # A background job of a shell starts with SIGINT ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    import numpy as np, sotto as st
    owner = st.Owner.new(depth=1)
    x = owner.encrypt(np.ones(2_000_000), range=(0, 2))
    print("ready", flush=True)
    try:
        {call}
        print("ended", flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        y = owner.encrypt([1.5, 2.5], range=(0, 3))
        print(abs(float(owner.decrypt(y.sum())) - 4) < 0.01, flush=True)
"""


@pytest.mark.parametrize(
    "call",
    [
        "for _ in range(100): owner.encrypt(np.ones(4_000_000), range=(0, 2))",
        "for _ in range(100): x * x",
        "for _ in range(100): owner.decrypt(x)",
    ],
    ids=["encrypt", "multiply", "decrypt"],
)
def test_control_c_ends_a_call_and_leaves_the_owner_intact(call):
    with subprocess.Popen(
        script(INTERRUPTED.format(call=call)), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert process.stdout.read().split() == ["interrupted", "True"]


def test_an_interrupt_arrives_inside_one_call():
    """A call of seconds raises before its end: the steps of its one vector are counted."""
    body = """
        import signal, numpy as np, sotto as st
        from sotto import _progress
        signal.signal(signal.SIGINT, signal.default_int_handler)
        owner = st.Owner.new(depth=1)
        seen = []
        def within(done, total, seconds):
            seen.append((done, total))
            signal.raise_signal(signal.SIGINT)
        _progress.within = within
        try:
            owner.encrypt(np.ones(4_000_000), range=(0, 2))
        except KeyboardInterrupt:
            (done, total), = seen
            print(0 < done < total, total)
    """
    output = subprocess.run(script(body), stdout=subprocess.PIPE, text=True, check=True).stdout
    within, parts = output.split()
    assert within == "True"
    assert int(parts) > 100


def in_terminal(body):
    """Run a script whose stderr is a terminal; return what it wrote there."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(script(body), stderr=theirs) as process:
        os.close(theirs)
        written = b""
        while True:
            readable, _, _ = select.select([ours], [], [], 1.0)
            if readable:
                try:
                    written += os.read(ours, 65536)
                except OSError:
                    break
            elif process.poll() is not None:
                break
    os.close(ours)
    assert process.returncode == 0
    return written.decode()


LONG = """
    import numpy as np, sotto as st
    from sotto import _progress
    _progress._PATIENCE = {patience}
    owner = st.Owner.new(depth=1)
    {more}
    x = owner.encrypt(np.ones((500_000, 4)), range=(0, 2))
"""


def test_a_terminal_shows_a_bar_and_clears_it():
    written = in_terminal(LONG.format(patience=0.05, more=""))
    assert "█" in written and "left" in written
    assert written.endswith("\r\x1b[K")


def test_short_calls_and_quiet_ones_show_nothing():
    assert in_terminal(LONG.format(patience=1000, more="")) == ""
    assert in_terminal(LONG.format(patience=0.05, more="st.show_progress(False)")) == ""


def test_no_bar_where_nobody_looks(capfd):
    from sotto import _progress

    stage = _progress._Stage(2)
    stage.next = 0.0
    stage.look()
    assert capfd.readouterr().err == ""


def test_shares_never_go_back(monkeypatch):
    """The outermost call has the bar; parts of a step count in between."""
    from sotto import _progress

    drawn = []

    class Bar:
        def draw(self, share, _seconds):
            drawn.append(share)

        def end(self):
            drawn.append("end")

    monkeypatch.setattr(_progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(_progress, "_EVERY", 0.0)
    monkeypatch.setattr(_progress, "_bar", Bar)
    owner = st.Owner.new(depth=1)
    x = owner.encrypt(np.ones((3, 4)), range=(0, 2))
    assert drawn == [0.25, 0.5, 0.75, 1.0, "end"]
    drawn.clear()

    def nested():
        _progress.within(1, 2)
        yield from _progress.tracked(["a", "b"], 2)

    assert list(_progress.tracked(nested(), 2)) == ["a", "b"]
    assert drawn == [0.25, 0.5, 1.0, "end"]
    drawn.clear()
    _progress.single(lambda: [_progress.within(done, 4) for done in (1, 3)])
    assert drawn == [0.25, 0.75, "end"]
    assert x.shape == (3, 4)
