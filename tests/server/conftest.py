"""Servers: one for all tests that only ask about documents of their own, a fresh one for others."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_lsp
from lsp_asking import ENCODINGS
from lsp_editor import SERVER, Editor


@pytest_lsp.fixture(config=SERVER)
async def connected(client: Editor) -> AsyncIterator[None]:
    """A server of the test's own that has not been greeted."""
    yield
    await client.shutdown_session()


@pytest_lsp.fixture(config=SERVER, scope="session")
async def shared_editor(client: Editor) -> AsyncIterator[None]:
    await client.start()
    yield
    await client.shutdown_session()


@pytest_lsp.fixture(config=SERVER, scope="session")
async def shared_utf_8_editor(client: Editor) -> AsyncIterator[None]:
    await client.start(encodings=[ENCODINGS["utf-8"]])
    yield
    await client.shutdown_session()


@pytest_lsp.fixture(config=SERVER, scope="session")
async def shared_pulling_editor(client: Editor) -> AsyncIterator[None]:
    await client.start(pulls=True)
    yield
    await client.shutdown_session()


@pytest_lsp.fixture(config=SERVER, scope="session")
async def shared_modern_editor(client: Editor) -> AsyncIterator[None]:
    await client.start(pulls=True, modern=True)
    yield
    await client.shutdown_session()


@pytest.fixture
async def editor(shared_editor: Editor) -> AsyncIterator[Editor]:
    """An editor that is sent diagnostics."""
    yield shared_editor
    await shared_editor.close_all()


@pytest.fixture
async def utf_8_editor(shared_utf_8_editor: Editor) -> AsyncIterator[Editor]:
    """An editor that is sent diagnostics, and counts columns in bytes."""
    yield shared_utf_8_editor
    await shared_utf_8_editor.close_all()


@pytest.fixture
def editors(editor: Editor, utf_8_editor: Editor) -> dict[str, Editor]:
    """The two by what they count columns in."""
    return {"utf-16": editor, "utf-8": utf_8_editor}


@pytest.fixture
async def pulling_editor(shared_pulling_editor: Editor) -> AsyncIterator[Editor]:
    """An editor that pulls diagnostics."""
    yield shared_pulling_editor
    await shared_pulling_editor.close_all()


@pytest.fixture
async def modern_editor(shared_modern_editor: Editor) -> AsyncIterator[Editor]:
    """An editor that pulls diagnostics and knows all that the protocol has."""
    yield shared_modern_editor
    await shared_modern_editor.close_all()
