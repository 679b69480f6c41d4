"""Typos of users are errors of type checkers; right programs are none."""

import importlib.util
import json
import subprocess
import sys

import pytest

RIGHT = """
import numpy as np
import sotto as st
from sotto import array_api as xp
from sotto import paillier, rlwe

def plan_of(a: st.EncryptedArray, b: st.EncryptedArray, c: st.EncryptedArray) -> st.EncryptedArray:
    return a + b + c

owner = st.Owner.new(depth=2, comparisons=2**-6)
x = owner.encrypt([20.5, 21.0], range=(-40, 60), resolution=0.1)
mean = owner.decrypt((x * 1.8 + 32).mean())
print(mean.bound, float(mean), mean[()], st.__version__)
plan = owner.plan(lambda v: v.sum(), st.like(100))
print(plan.bound, plan.steps, x.T @ x, owner.decrypt(x > 3).yes)
frame = st.encrypt_frame({}, owner, ranges={})
print(st.Answer, st.column, st.compute_frame, st.EncryptedCells, st.EncryptedDtype)
cloud = st.Evaluator(owner.public_bundle())
flags = owner.decrypt(x > 3)
print(flags.yes.sum(), flags.no, flags.undecided, flags.gap, flags.shape, len(flags))
print(cloud.run(lambda v: v.sum(), x).shape, cloud.run(lambda v: v > 3, x).gap)
print(cloud.run(lambda v, w: v @ w, x, x).levels_left, cloud.run(plan_of, x, x, x).shape)
print(xp.mean(x, axis=0).shape, xp.mean(np.ones(3)), xp.add(x, 1.0).magnitude, xp.ones(3).sum())
print(xp.where(np.ones(2, dtype=bool), x, 0.0).shape, xp.stack([x, x], axis=1).levels_left)
print((xp.greater(x, 3.0)).gap, xp.concat([x[:, None], x[:, None]], axis=1).T @ x)
ridge = st.fit_ridge(x[:, None], x).solve(owner)
print(ridge.predict(x[:, None]).shape, ridge.predict(np.ones((3, 1))).mean())
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
    "owner.decrypt(x > 3).yess",
    "owner.decrypt(x > 3).sum()",
    "cloud.run(lambda v: v.smu(), x)",
    "cloud.run(lambda v: v.sum(), x).shpae",
    "cloud.run(lambda v: v > 3, x).yes",
    "cloud.run(lambda v: v.sum(), 3)",
    "cloud.run(plan_of, x, x, x).bound",
    "xp.maen(x)",
    "xp.mean(x).bound",
    "xp.mean(x, axes=0)",
    "xp.exp(x)",
    "xp.add(x, 1.0).nosuch",
    "xp.divide(1.0, x)",
    "xp.concat([x, np.ones(2)], axis=1)",
    "ridge.predict(x[:, None]).bound",
    "ridge.predict('rows')",
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
