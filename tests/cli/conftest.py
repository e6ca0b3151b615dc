from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _no_store_of_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps the tests out of a store that the environment names, and puts the configuration back.

    `--config` sets the variable for the process, which is that of the tests.
    """
    monkeypatch.delenv("WEBTABLE_STORE", raising=False)
    monkeypatch.setenv("WEBTABLE_CONFIG", "")
