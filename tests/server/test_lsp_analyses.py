"""When analyses run, and which of their reports are kept."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from shardlint_server.analysis.analyses import Analyses, Report
from shardlint_server.analysis.worker import Worker
from shardlint_server.documents.documents import Part, Target


class Desk:
    """One open text; its analyses wait until `go` is set."""

    def __init__(self) -> None:
        self.text: str | None = "one"
        self.analysed: list[str] = []
        self.failures: list[BaseException] = []
        self.begun = asyncio.Event()
        self.go = threading.Event()
        self.loop = asyncio.get_running_loop()
        self.worker = Worker()
        self.analyses = Analyses(
            self.worker,
            self.current,
            lambda target: lambda: self.analyse(target),
            lambda _, error: self.failures.append(error),
        )

    def current(self, uri: str) -> Target | None:
        return None if self.text is None else Target(uri, uri, (Part(uri, None, self.text),))

    def analyse(self, target: Target) -> Report:
        self.analysed.append(target.parts[0].text)
        self.loop.call_soon_threadsafe(self.begun.set)
        assert self.go.wait(60)
        if target.parts[0].text == "crash":
            raise RecursionError("too deep")
        if target.parts[0].text == "panic":
            raise KeyboardInterrupt
        return Report({target.uri: ()})

    def ask(self, uri: str = "a") -> asyncio.Task[tuple[Target, Report] | None]:
        return asyncio.create_task(self.analyses.latest(uri))


@pytest_asyncio.fixture
async def desk() -> AsyncIterator[Desk]:
    desk = Desk()
    yield desk
    desk.go.set()
    desk.worker.close()


async def test_who_asks_for_the_same_text_shares_an_analysis(desk: Desk) -> None:
    asked = [desk.ask() for _ in range(5)]
    await desk.begun.wait()
    desk.go.set()
    assert all([await answer is not None for answer in asked])
    assert desk.analysed == ["one"]


async def test_a_text_that_changed_meanwhile_is_analysed_anew(desk: Desk) -> None:
    answer = desk.ask()
    await desk.begun.wait()
    desk.text = "two"
    desk.go.set()
    latest = await answer
    assert latest is not None
    assert latest[0].parts[0].text == "two"
    assert desk.analysed == ["one", "two"]


async def test_a_text_that_was_replaced_before_its_turn_is_skipped(desk: Desk) -> None:
    asked = [desk.ask()]
    await desk.begun.wait()
    for text in ("two", "three", "four"):
        desk.text = text
        asked.append(desk.ask())
        await asyncio.sleep(0)
    desk.go.set()
    await asyncio.gather(*asked)
    assert set(desk.analysed) == {"one", "four"}


async def test_an_edit_is_analysed_after_a_pause(desk: Desk) -> None:
    desk.go.set()
    desk.analyses.changed("a")
    answer = desk.ask()
    for text in ("two", "three", "four"):
        desk.text = text
        desk.analyses.changed("a")
        await asyncio.sleep(0)
    await answer
    assert desk.analysed == ["four"]


async def test_a_closed_text_has_no_report(desk: Desk) -> None:
    answer = desk.ask()
    await desk.begun.wait()
    desk.text = None
    desk.analyses.closed("a")
    desk.go.set()
    assert await answer is None


async def test_a_text_that_was_closed_and_opened_again_before_its_turn_has_one(desk: Desk) -> None:
    other = desk.ask("b")
    await desk.begun.wait()
    first = desk.ask("a")
    await asyncio.sleep(0)
    desk.analyses.closed("a")
    second = desk.ask("a")
    await asyncio.sleep(0)
    desk.go.set()
    latest = await second
    assert latest is not None
    assert dict(latest[1].diagnostics) == {"a": ()}
    await asyncio.gather(other, first)


async def test_who_asks_later_has_a_new_analysis(desk: Desk) -> None:
    first = desk.ask()
    await desk.begun.wait()
    first.cancel()
    desk.go.set()
    await desk.ask()
    await desk.ask()
    assert len(desk.analysed) > 1  # what the text imports may have changed meanwhile


async def test_what_is_known_of_a_text_is_told_at_once(desk: Desk) -> None:
    desk.go.set()
    assert desk.analyses.known("a") is None
    first = await desk.analyses.settled("a")
    assert await desk.analyses.settled("a") == first == desk.analyses.known("a")
    assert desk.analysed == ["one"]
    desk.text = "two"
    assert desk.analyses.known("a") == first  # as long as nothing newer is known
    second = await desk.analyses.settled("a")
    assert second is not None
    assert second[0].parts[0].text == "two"
    assert desk.analysed == ["one", "two"]
    desk.analyses.closed("a")
    assert desk.analyses.known("a") is None


async def test_a_cancelled_question_leaves_the_others_theirs(desk: Desk) -> None:
    first, second = desk.ask(), desk.ask()
    await desk.begun.wait()
    first.cancel()
    desk.go.set()
    assert await second is not None
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_a_failure_is_told_once_and_is_an_empty_report(desk: Desk) -> None:
    desk.text = "crash"
    desk.go.set()
    answers = await asyncio.gather(desk.ask(), desk.ask())
    assert [answer and dict(answer[1].diagnostics) for answer in answers] == [{}, {}]
    assert [str(error) for error in desk.failures] == ["too deep"]
    desk.text = "two"
    latest = await desk.ask()
    assert latest is not None
    assert dict(latest[1].diagnostics) == {"a": ()}


async def test_a_panic_is_a_failure(desk: Desk) -> None:
    desk.text = "panic"
    desk.go.set()
    latest = await desk.ask()
    assert latest is not None
    assert dict(latest[1].diagnostics) == {}
    assert [type(error) for error in desk.failures] == [RuntimeError]
