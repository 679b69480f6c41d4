"""Questions and computations under asyncio."""

import asyncio
import threading

import numpy as np
import pytest
import sotto as st
from plant_session import Relay

pd = pytest.importorskip("pandas")

QUESTIONS = [
    "daily",
    "mean(humidity) by day",
    "line",
    "curve",
    "mean(temperature) per device",
]


def same(one, other):
    """Compare two answers."""
    pd.testing.assert_frame_equal(pd.DataFrame(one), pd.DataFrame(other))


def test_several_questions(cloud, session):
    async def gathered():
        other = st.Cloud(session.plant)
        asked = [(cloud, other)[n % 2].ask_async(text) for n, text in enumerate(QUESTIONS * 2)]
        return await asyncio.gather(*asked)

    answers = asyncio.run(gathered())
    for question, answer in zip(QUESTIONS * 2, answers, strict=True):
        same(answer, cloud.ask(question))
    names = [answer.attrs["kept_as"] for answer in answers]
    assert len(set(names)) == len(names) and set(names) <= set(cloud.answers())
    assert asyncio.run(cloud.verify_async(names[0])).holds


def test_the_loop_goes_on(session):
    """The cloud answers only after the event loop has run meanwhile."""
    runs = threading.Event()
    relay = Relay(session.port, lambda n: runs.wait(60))
    cloud = st.Cloud(session.copy_at("patient", relay.port))

    async def both():
        task = asyncio.create_task(cloud.ask_async("daily"))
        while not relay.requests:
            await asyncio.sleep(0.001)
        runs.set()
        return await task

    assert len(asyncio.run(both())) > 0
    relay.close()


def test_errors(cloud):
    async def gathered():
        asked = [cloud.ask_async(text) for text in ("daily", "mean(nothing)")]
        return await asyncio.gather(*asked, return_exceptions=True)

    answer, error = asyncio.run(gathered())
    assert isinstance(answer, st.Answer) and isinstance(error, st.QuestionError)


def test_cancelled(session):
    """A cancelled question sends no further request and leaves the plant usable."""
    cancelled = threading.Event()
    relay = Relay(session.port, lambda n: cancelled.wait(60))
    cloud = st.Cloud(session.copy_at("cancelled", relay.port))

    async def work():
        first = asyncio.create_task(cloud.ask_async("daily"))
        waiting = asyncio.create_task(cloud.ask_async("line"))
        while not relay.requests:
            await asyncio.sleep(0.001)
        for task in (first, waiting):
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(cloud.ask_async("daily"), 0)
        cancelled.set()

    # Waits for the threads when it closes the loop.
    asyncio.run(work())
    assert relay.requests == 1 and cloud.answers() == []
    same(asyncio.run(cloud.ask_async("daily")), st.Cloud(session.plant).ask("daily"))
    relay.close()


def test_evaluator(owner):
    cloud = st.Evaluator(owner.public_bundle())
    rng = np.random.default_rng(5)
    clear = [rng.uniform(-1, 1, 100) for _ in range(4)]
    plan = owner.plan(lambda x: (x * x).sum(), st.like(100, range=(-1, 1)))

    async def gathered():
        sent = [cloud.read(bytes(owner.encrypt(x, range=(-1, 1)))) for x in clear]
        return await asyncio.gather(*(cloud.run_async(lambda x: (x * x).sum(), x) for x in sent))

    for answer, exact in zip(asyncio.run(gathered()), clear, strict=True):
        found = owner.decrypt(st.DetachedArray(bytes(answer)), plan)
        assert abs(found - exact @ exact) <= found.bound

    async def refused():
        await cloud.run_async(lambda x: x.sum(), owner.encrypt([1, 2]), "no array")

    with pytest.raises(Exception, match="str"):
        asyncio.run(refused())
