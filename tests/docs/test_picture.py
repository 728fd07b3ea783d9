"""The picture in the README is of what shardlint prints today, and is fetched from nowhere."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import picture


def test_the_picture_says_what_is_printed() -> None:
    shown = picture.text_of(picture.PICTURE.read_text(encoding="utf-8"))
    printed = picture.printed(colours=False)
    assert "confirmed by JAX" in printed
    assert shown == re.sub(r"\s", "", printed), "python docs/tools/picture.py"


def test_the_picture_is_whole() -> None:
    text = picture.PICTURE.read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    assert root.tag.endswith("svg")
    assert set(re.findall(r"https?://[^\"]+", text)) == {"http://www.w3.org/2000/svg"}


def test_the_readme_shows_it() -> None:
    page = picture.README.read_text(encoding="utf-8")
    assert f"]({picture.PICTURE.relative_to(picture.examples.ROOT)})" in page


def test_another_text_is_another_picture() -> None:
    assert picture.text_of(picture.drawn("$ true\nFound 2 errors.")) == "$trueFound2errors."
