"""Typos of users are errors of type checkers; right programs are none."""

import importlib.util
import json
import subprocess
import sys

import pytest

RIGHT = """
import numpy as np
import sotto as st
from sotto import paillier, rlwe

owner = st.Owner.new(depth=2, comparisons=2**-6)
x = owner.encrypt([20.5, 21.0], range=(-40, 60), resolution=0.1)
mean = owner.decrypt((x * 1.8 + 32).mean())
print(mean.bound, float(mean), mean[()], st.__version__)
plan = owner.plan(lambda v: v.sum(), st.like(100))
print(plan.bound, plan.steps, x.T @ x, owner.decrypt(x > 3).yes)
frame = st.encrypt_frame({}, owner, ranges={})
print(st.Answer, st.column, st.compute_frame, st.EncryptedCells, st.EncryptedDtype)
public, private = paillier.generate_paillier_keypair(n_length=2048)
print(public.encrypt(1.5) + 2, rlwe.Parameters)
"""

#: Each line holds one typo.
TYPOS = [
    "st.Ownr",
    "st.encrypt_fram",
    "st.Owner.nwe()",
    "st.Owner.new(dept=2)",
    "st.Owner.for_program(lambda v: v.sum(), st.like(3), comparison=2**-4)",
    "owner.encrpyt([1.0])",
    "owner.encrypt([1.0], rnage=(0, 1))",
    "owner.encrypt([1.0], range=(0, 1), resolutoin=0.1)",
    "x.maen()",
    "x.sum(axs=0)",
    "x.sum().shpae",
    "(x * 2 + 1).magnitud",
    "x[0].siez",
    "owner.decrypt(x).bund",
    "owner.decrypt(x)[0].nosuch if False else owner.decrypt(x).boundd",
    "owner.decrypt(x.mean(), paln=None)",
    "owner.plan(lambda v: v.sum(), st.like(3)).bond",
    "owner.plan(lambda v: v.sum(), st.lik(3))",
    "owner.evaluator().rnu",
    "(x > 3).nots",
    "paillier.generate_paillier_keypir()",
    "paillier.PaillierPublicKey.encrpt",
    "rlwe.Evaluatr",
    "st.SottoEror",
    "st.show_progres(True)",
    "st.Cloud('plant').aks('mean(t)')",
]


def errors_of_mypy(path, folder):
    command = ["-m", "mypy", "--strict", "--no-incremental", "--cache-dir", str(folder / "cache")]
    done = subprocess.run(
        [sys.executable, *command, "--no-error-summary", str(path)],
        capture_output=True,
        text=True,
        cwd=folder,
    )
    assert not done.stderr, done.stderr
    lines = [line for line in done.stdout.splitlines() if ": error:" in line]
    return {int(line.split(":")[1]): line for line in lines}


def errors_of_pyright(path, folder):
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--outputjson"]
    done = subprocess.run([*command, str(path)], capture_output=True, text=True, cwd=folder)
    found = json.loads(done.stdout)["generalDiagnostics"]
    return {
        one["range"]["start"]["line"] + 1: one["message"]
        for one in found
        if one["severity"] == "error"
    }


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_typos_are_errors(checker, tmp_path):
    if importlib.util.find_spec(checker) is None:
        pytest.skip(f"{checker} is not installed")
    lines = RIGHT.strip().splitlines()
    path = tmp_path / "program.py"
    path.write_text("\n".join([*lines, *TYPOS]) + "\n")
    found = {"mypy": errors_of_mypy, "pyright": errors_of_pyright}[checker](path, tmp_path)
    wrong = {at: text for at, text in found.items() if at <= len(lines)}
    assert not wrong
    unseen = [typo for at, typo in enumerate(TYPOS, len(lines) + 1) if at not in found]
    assert not unseen
