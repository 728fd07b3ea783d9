"""The pictures in the README are of what shardlint prints today, and are fetched from nowhere."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import jax
import pytest

import picture

each = pytest.mark.parametrize("one", picture.PICTURES, ids=lambda one: one.file.stem)


@each
def test_the_picture_says_what_is_printed(one: picture.Picture) -> None:
    shown = picture.text_of(one.file.read_text(encoding="utf-8"))
    printed = picture.printed(one, colours=False)
    assert ("confirmed by JAX" if one is picture.CHECKED else "all-gather") in printed
    if f"JAX{jax.__version__}" in shown:
        assert shown == re.sub(r"\s", "", printed), "python docs/tools/picture.py"


@each
def test_the_picture_is_whole(one: picture.Picture) -> None:
    text = one.file.read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    assert root.tag.endswith("svg")
    assert set(re.findall(r"https?://[^\"]+", text)) == {"http://www.w3.org/2000/svg"}


@each
def test_the_readme_shows_it(one: picture.Picture) -> None:
    page = picture.README.read_text(encoding="utf-8")
    assert f"]({one.file.relative_to(picture.examples.ROOT)})" in page


def test_another_text_is_another_picture() -> None:
    assert picture.text_of(picture.drawn("$ true\nFound 2 errors.")) == "$trueFound2errors."
