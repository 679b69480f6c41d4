"""Long calls of the layers below let other threads run."""

import sys
import threading

import numpy as np
import pytest
import sotto as st


def many_keys():
    parameters = st.rlwe.Parameters.default("bfv", 16384, 65537)
    secret = st.rlwe.SecretKey.generate(parameters)
    steps = parameters.power_of_two_steps
    return lambda: secret.evaluation_keys(steps=steps)


def many_numbers():
    public, _ = st.paillier.generate_paillier_keypair(n_length=2048)
    return lambda: public.encrypt_array(np.arange(60))


@pytest.mark.parametrize("prepare", [many_keys, many_numbers])
def test_a_long_call_gives_the_lock_away(prepare):
    call = prepare()
    started, done = threading.Event(), threading.Event()

    def work():
        started.set()
        call()
        done.set()

    before = sys.getswitchinterval()
    # Threads switch only where one gives the lock away.
    sys.setswitchinterval(1000)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        started.wait()
        running = not done.is_set()
        thread.join()
    finally:
        sys.setswitchinterval(before)
    assert running
