"""Fits on another computer: sums that were not planned are refused."""

import json

import numpy as np
import pytest
import sotto as st

pytest.importorskip("sklearn")
from sklearn.datasets import load_iris  # noqa: E402
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis  # noqa: E402
from sklearn.linear_model import Ridge  # noqa: E402

ROWS = load_iris().data
LABELS = load_iris().target
RANGES = np.column_stack([ROWS.min(axis=0), ROWS.max(axis=0)])
CENTRES = RANGES.mean(axis=1)
NARROW = RANGES - CENTRES[:, None]


@pytest.fixture(scope="module")
def owner():
    """Return an owner with room for one product and a sum."""
    return st.Owner.new(depth=1)


@pytest.fixture(scope="module")
def sent(owner):
    """Return the bytes of rows, of a target and of labels."""
    X = owner.encrypt(ROWS[:, :3] - CENTRES[:3], range=NARROW[:3])
    y = owner.encrypt(ROWS[:, 3], range=(0, 3))
    hot = owner.encrypt((LABELS[:, None] == [0, 1, 2]).astype(float), range=(0, 1))
    return [bytes(array) for array in (X, y, hot)]


def test_a_ridge_regression_elsewhere(owner, sent):
    plan = st.plan_fit(
        owner,
        st.fit_ridge,
        st.like((150, 3), range=NARROW[:3]),
        st.like(150, range=(0, 3)),
        alpha=0.5,
        centres=CENTRES[:3],
    )
    cloud = st.Evaluator(owner.public_bundle())
    # Neither alpha nor the centres change the sums: the owner's are those that count.
    answer = bytes(st.fit_ridge(cloud.read(sent[0]), cloud.read(sent[1]), alpha=7))
    model = plan.solve(owner, answer)
    exact = Ridge(alpha=0.5).fit(ROWS[:, :3], ROWS[:, 3])
    assert np.all(np.abs(model.coef_ - exact.coef_) <= model.coef_bound_ + 1e-9)
    assert abs(model.intercept_ - exact.intercept_) <= model.intercept_bound_ + 1e-9
    assert model.coef_bound_.max() < 1e-3 and plan.answer_bytes <= len(answer)


def test_discriminants_with_hidden_labels_elsewhere(owner, sent):
    plan = st.plan_fit(
        owner,
        st.fit_lda,
        st.like((150, 3), range=NARROW[:3]),
        st.like((150, 3), range=(0, 1)),
        centres=CENTRES[:3],
    )
    cloud = st.Evaluator(owner.public_bundle())
    model = plan.solve(owner, bytes(st.fit_lda(cloud.read(sent[0]), cloud.read(sent[2]))))
    exact = LinearDiscriminantAnalysis(solver="lsqr").fit(ROWS[:, :3], LABELS)
    assert np.all(np.abs(model.coef_ - exact.coef_) <= model.coef_bound_ + 1e-9)
    assert np.array_equal(model.predict(ROWS[:, :3]), exact.predict(ROWS[:, :3]))


def test_other_sums_are_refused(owner, sent):
    plan = st.plan_fit(owner, st.fit_pca, st.like((150, 3), range=NARROW[:3]))
    cloud = st.Evaluator(owner.public_bundle())
    X, y, _ = (cloud.read(data) for data in sent)
    right = st.fit_pca(X)
    assert plan.solve(owner, bytes(right)).explained_variance_.shape == (3,)
    fewer = st.EncryptedMoments({"products": right.sums["products"]}, 150, right._solved)
    turned = st.EncryptedMoments(dict(reversed(right.sums.items())), 150, right._solved)
    for wrong in (st.fit_ridge(X, y), st.fit_pca(X[:, :2]), st.fit_pca(X * 2), fewer, turned):
        with pytest.raises(st.NotTrusted):
            plan.solve(owner, bytes(wrong))
    # Sums that came as bytes are not decrypted without a plan.
    with pytest.raises(st.NotTrusted):
        right.solve(owner)
    with pytest.raises(st.SottoError):
        plan.solve(st.Owner.new(depth=1), bytes(right))


def test_damaged_bytes(owner, sent):
    plan = st.plan_fit(owner, st.fit_pca, st.like((150, 3), range=NARROW[:3]))
    whole = bytes(st.fit_pca(st.Evaluator(owner.public_bundle()).read(sent[0])))
    start = len(b"sotto.sums\x01\x00")
    length = int.from_bytes(whole[start : start + 4], "little")
    header = json.loads(whole[start + 4 : start + 4 + length])

    def with_header(**changes):
        text = json.dumps(header | changes).encode()
        rest = whole[start + 4 + length :]
        return whole[:start] + len(text).to_bytes(4, "little") + text + rest

    for wrong in (
        b"",
        whole[:-1],
        whole + b"\0",
        sent[0],
        with_header(names=["products"]),
        with_header(names=["rows", "rows"]),
        with_header(names=7),
        with_header(names=[1, 2]),
        with_header(frames=[-1, 5]),
    ):
        with pytest.raises(st.BadBytes):
            plan.solve(owner, wrong)
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    try:
        plan.solve(owner, bytes(flipped))
    except st.SottoError:
        pass
