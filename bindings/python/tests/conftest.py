"""Owners that the tests share: making keys takes longer than most tests."""

import sys

import numpy as np
import pytest
import sotto as st


@pytest.fixture(scope="session")
def owner():
    """Return an owner with room for two products one after another."""
    return st.Owner.new()


@pytest.fixture
def rng():
    """Return reproducible random numbers for inputs."""
    return np.random.default_rng(7)


@pytest.fixture(scope="session")
def close():
    """Return a check of decrypted values against exact ones."""

    def check(found, exact):
        exact = np.asarray(exact)
        assert found.shape == exact.shape
        assert np.all(np.abs(np.asarray(found) - exact) <= found.bound + 1e-12 * np.abs(exact))
        assert found.bound < 0.01 * max(1.0, np.abs(exact).max())

    return check


def pytest_terminal_summary(terminalreporter):
    """Show how near errors came to their bounds, after random programs."""
    figures = sys.modules.get("random_figures")
    table = figures.FIGURES.table() if figures else []
    if table:
        terminalreporter.section("random programs")
        terminalreporter.write("\n".join(table) + "\n")
