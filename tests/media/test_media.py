"""One function a medium: whatever a string holds, it is shown, and says nothing to what shows it."""

from __future__ import annotations

import html
import json
import tomllib
import unicodedata
from xml.etree import ElementTree

import pytest
from hostile_strings import (
    FRAGMENTS,
    assert_shown,
    commands,
    parsers,
    patient,
    rendered,
    silent,
    texts,
    tokens,
)
from hypothesis import example, given

from shardlint.support import media

#: What a line of words is made of in Markdown.
WORDS = {"paragraph_open", "paragraph_close", "inline", "text", "text_special", "code_inline"}


def test_the_marks_are_those_of_unicode() -> None:
    """All controls, formats, separators of lines and halves of surrogates; and nothing else."""
    for number in (*range(0x3000), *range(0xD7FF, 0xE001), *range(0xFE00, 0x10000), *range(0xE0000, 0xE0200)):
        char = chr(number)
        hidden = unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp", "Cs")
        assert media.plain(char) == (media.MARK if hidden else char)


@patient
@given(texts)
def test_a_text_on_a_terminal_is_one_line_that_commands_nothing(text: str) -> None:
    for shown in (media.terminal(text), f"12 | {media.terminal(text, begins=False)}", media.plain(text)):
        assert silent(shown) == []
    assert_shown(media.terminal(text))
    assert commands(f"12 | {media.terminal(text, begins=False)}") == []
    assert len(media.terminal(text)) == len(text)
    assert_shown(media.lines(text))
    assert commands(media.drawn(text)) == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("::error::x", "\ufffd:error::x"),
        (":\n::error::x", "\ufffd\ufffd\ufffd:error::x"),
        ("\u3000::error::x", "\u3000\ufffd:error::x"),
        ("a ##[error]x", "a #\ufffd[error]x"),
        ("##vso[x]", "#\ufffdvso[x]"),
        ("x[::2], a::b, ## c, d[0] # e", "x[::2], a::b, ## c, d[0] # e"),
        ("a\nb\u202e", "a\ufffdb\ufffd"),
        ("häuser, 轴, 👩", "häuser, 轴, 👩"),
    ],
)
def test_what_a_terminal_shows(text: str, shown: str) -> None:
    assert media.terminal(text) == shown


@patient
@given(texts)
@example("a`b``c`")
@example("`a``b`")
def test_a_text_in_markdown_is_that_text(text: str) -> None:
    for parser in parsers():
        shown = media.markdown(text)
        for written in (shown, f"- {shown} (x)", f"**{shown}**: x"):
            found = {token.type for token in tokens(parser, written)}
            around = {"bullet_list_open", "list_item_open", "list_item_close", "bullet_list_close"}
            assert found <= WORDS | around | {"strong_open", "strong_close"}, written
        if "`" not in text:
            assert rendered(parser, shown) == media.plain(text).strip()


@patient
@given(texts)
def test_a_text_as_code_is_that_text(text: str) -> None:
    for parser in parsers():
        written = f"- mesh: {media.code(text)}, {media.code('x')}"
        kinds = [token.type for token in tokens(parser, written)]
        assert {"link_open", "image", "html_inline", "html_block", "heading_open"}.isdisjoint(kinds)
        assert rendered(parser, written).strip() == f"mesh: {media.plain(text) or ' '}, x"


@patient
@given(texts)
def test_a_link_is_one_and_leads_where_it_should(text: str) -> None:
    for parser in parsers():
        for written in (
            media.link(text, "file:///a/b%20c.py#L3"),
            f"- {media.link(text, 'https://a.example/')}",
        ):
            links = [token for token in tokens(parser, written) if token.type == "link_open"]
            assert [link.attrs["href"] for link in links] in (
                ["file:///a/b%20c.py#L3"],
                ["https://a.example/"],
            )
            assert not {"image", "html_inline"} & {token.type for token in tokens(parser, written)}


@patient
@given(texts)
def test_an_address_does_not_end_its_link(text: str) -> None:
    for parser in parsers():
        found = tokens(parser, media.link("here", f"file:///{text}"))
        assert [token.type for token in found if token.type in ("image", "html_inline", "heading_open")] == []
        assert sum(token.type == "link_open" for token in found) <= 1
        assert "".join(token.content for token in found if token.type == "text") == "here"


@patient
@given(texts)
def test_a_block_of_lines_has_no_end_of_its_own(text: str) -> None:
    for parser in parsers():
        assert [token.type for token in parser.parse(media.block([text, "x"]))] == ["fence"]


@patient
@given(texts)
def test_a_message_has_no_links(text: str) -> None:
    assert silent(media.message(text)) == []
    assert "](" not in media.message(text)
    assert silent(media.messages(text).replace("\n", "")) == []


@patient
@given(texts)
def test_html_shows_the_text(text: str) -> None:
    written = media.html(text)
    assert_shown(written)
    assert not set(written) & set("<>\"'")
    assert html.unescape(written) == media.terminal(text)


@patient
@given(texts)
def test_json_loses_nothing_and_commands_nothing(text: str) -> None:
    written = media.json_document([{text: text, "b": [text]}])
    assert written.isascii()
    assert_shown(written)
    assert json.loads(written) == [{text: text, "b": [text]}]


@patient
@given(texts)
def test_xml_loses_only_what_it_cannot_write(text: str) -> None:
    element = ElementTree.Element("a", {"b": media.xml(text)})
    element.text = media.xml(text)
    written = media.xml_document(ElementTree.tostring(element).decode("ascii"))
    assert_shown(written)
    read = ElementTree.fromstring(written)
    assert read.attrib["b"] == media.xml(text)
    assert read.text == (media.xml(text) or None)


@patient
@given(texts)
def test_toml_loses_nothing(text: str) -> None:
    from shardlint.config.keys.value_kinds import written

    text = text.encode("utf-8", "replace").decode()
    shown = f"x = {written(text)}\n"
    assert_shown(shown)
    assert tomllib.loads(shown) == {"x": text}


@pytest.mark.parametrize("text", FRAGMENTS)
def test_each_fragment_by_itself(text: str) -> None:
    assert_shown(media.terminal(text))
    assert_shown(media.html(text))
