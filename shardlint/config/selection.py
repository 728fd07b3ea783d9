"""Rule selectors: the rules that a code, its prefix, a name or a group selects, and their precedence."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from shardlint.config.errors import ConfigError, nearest_of

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

    from shardlint.config.settings import Selection, Settings


class Described(Protocol):
    """The properties of a rule that the command line and the configuration use."""

    @property
    def code(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def group(self) -> str: ...
    @property
    def preview(self) -> bool: ...
    @property
    def summary(self) -> str: ...
    @property
    def docs(self) -> str: ...


def known_rules() -> list[Described]:
    """Return all rules by code: those about files and those about uses."""
    from shardlint.rules import all_rules
    from shardlint.source.file_problems import FILE_RULES

    return sorted([*FILE_RULES, *all_rules()], key=lambda rule: rule.code)


def selector_words(rules: Iterable[Described] | None = None) -> list[str]:
    """Return all selectors: ``ALL``, the groups, the codes and their prefixes, and the names."""
    rules = known_rules() if rules is None else list(rules)
    beginnings = {rule.code[:length] for rule in rules for length in range(3, len(rule.code) + 1)}
    groups = {str(rule.group) for rule in rules}
    return ["ALL", *sorted(groups), *sorted(beginnings), *sorted(rule.name for rule in rules)]


def check_selectors(selectors: Iterable[str], key: str, at: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return rule selectors, codes in capitals, if each selects a rule. Raises ConfigError."""
    checked = []
    for selector in selectors:
        known = _words()
        word = selector if selector in known else selector.upper()
        if word not in known:
            hint = nearest_of(selector, known, others=False) or "; `shardlint rules` lists them"
            raise ConfigError(f'"{key}": no rule is called "{selector}"{hint}', at, selector)
        checked.append(word)
    return tuple(checked)


@lru_cache(maxsize=1)
def _words() -> dict[str, None]:
    return dict.fromkeys(selector_words())


def means(selector: str, rule: Described) -> bool:
    """Return whether a selector selects a rule."""
    return selector in ("ALL", rule.name, str(rule.group)) or (
        selector[:1].isupper() and rule.code.startswith(selector)
    )


def specificity(selector: str, rule: Described) -> int:
    """Return the specificity of a selector; from least to most: ``ALL``, ``SHL``, a group, ``SHL2``, a
    code or name.
    """
    if selector == "ALL":
        return 0
    if selector in (rule.name, rule.code):
        return 9
    if selector == str(rule.group):
        return 2
    digits = sum(character.isdigit() for character in selector)
    return 2 + digits if digits else 1


def is_selected(rule: Described, selections: Sequence[Selection], preview: bool = False) -> bool:
    """Return whether a rule is on, by ruff's precedence.

    Of the selectors in one selection that select the rule, the most specific one wins, and of equally
    specific ones those that ignore. A later selection with ``select`` starts from nothing; one without it
    modifies the earlier ones.
    """
    if rule.preview and not preview:
        return False
    on = False
    for selection in selections:
        wanted = _narrowest((*(selection.select or ()), *selection.extend_select), rule)
        unwanted = _narrowest(selection.ignore, rule)
        if selection.select is not None or max(wanted, unwanted) >= 0:
            on = wanted > unwanted
    return on


def _narrowest(selectors: Iterable[str], rule: Described) -> int:
    return max((specificity(s, rule) for s in selectors if means(s, rule)), default=-1)


@lru_cache(maxsize=64)
def selected_codes(settings: Settings) -> frozenset[str]:
    """Return the codes of the rules that are on."""
    return frozenset(
        rule.code for rule in known_rules() if is_selected(rule, selections(settings), settings.preview)
    )


def selections(settings: Settings) -> list[Selection]:
    """Return the selections of the configuration and of the command line, in order of precedence."""
    from shardlint.config.settings import Selection

    ignored = (*settings.ignore, *settings.extend_ignore)
    return [Selection(settings.select, settings.extend_select, ignored), settings.asked]


@lru_cache(maxsize=64)
def severities(settings: Settings) -> dict[str, str]:
    """Return the configured severities of findings that JAX accepts, by code."""
    chosen = {}
    for rule in known_rules():
        ours = [(specificity(s, rule), severity) for s, severity in settings.severity if means(s, rule)]
        if ours:
            chosen[rule.code] = max(ours, key=lambda pair: pair[0])[1]
    return chosen


def ignored_codes(settings: Settings, path: str) -> frozenset[str]:
    """Return the codes that are ignored in one file."""
    here = os.getcwd() if settings.asked_per_file_ignores else settings.root
    return _ignored(settings, os.path.abspath(path), here)


@lru_cache(maxsize=4096)
def _ignored(settings: Settings, path: str, here: str) -> frozenset[str]:
    pairs = [(pattern, codes, settings.root) for pattern, codes in settings.per_file_ignores]
    pairs += [(pattern, codes, settings.root) for pattern, codes in settings.extend_per_file_ignores]
    pairs += [(pattern, codes, here) for pattern, codes in settings.asked_per_file_ignores]
    found = [code for pattern, codes, folder in pairs if _matches(pattern, path, folder) for code in codes]
    if not found:
        return frozenset()
    return frozenset(rule.code for rule in known_rules() if any(means(s, rule) for s in found))


def _matches(pattern: str, path: str, folder: str) -> bool:
    """Return whether a pattern, relative to a folder, matches a path; ``!tests/`` matches every other
    path.
    """
    relative = os.path.relpath(path, folder)
    return _spec(pattern.removeprefix("!")).match_file(relative) != pattern.startswith("!")


@lru_cache(maxsize=256)
def _spec(pattern: str) -> GitIgnoreSpec:
    from shardlint.source.workspace.gitignore import ignore_spec

    return ignore_spec([pattern])


def without_effect(settings: Settings) -> list[str]:
    """Return messages about selectors that name preview rules while preview is off."""
    if settings.preview:
        return []
    requested = {
        selector: None
        for selection in selections(settings)
        for selector in (*(selection.select or ()), *selection.extend_select)
        if selector != "ALL"
    }
    if not requested:
        return []
    waiting = [rule for rule in known_rules() if rule.preview]
    return [
        f'"{selector}" has no effect: the rule is in preview; --preview or `preview = true` lets it in'
        for selector in requested
        if any(selector in (rule.code, rule.name) for rule in waiting)
    ]
