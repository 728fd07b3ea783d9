"""A fresh server for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_lsp
from lsp_editor import SERVER, Editor


@pytest_lsp.fixture(config=SERVER)
async def connected(client: Editor) -> AsyncIterator[None]:
    """A server that has not been greeted."""
    yield
    await client.shutdown_session()


@pytest_lsp.fixture(config=SERVER)
async def editor(client: Editor) -> AsyncIterator[None]:
    """An editor that is sent diagnostics."""
    await client.start()
    yield
    await client.shutdown_session()


@pytest_lsp.fixture(config=SERVER)
async def pulling_editor(client: Editor) -> AsyncIterator[None]:
    """An editor that pulls diagnostics."""
    await client.start(pulls=True)
    yield
    await client.shutdown_session()


@pytest_lsp.fixture(config=SERVER)
async def modern_editor(client: Editor) -> AsyncIterator[None]:
    """An editor that pulls diagnostics and knows all that the protocol has."""
    await client.start(pulls=True, modern=True)
    yield
    await client.shutdown_session()
