"""The page that shows what each device holds of the arrays on a line: for an editor's panel.

It loads nothing, and takes its colours from the editor where that tells them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from shardlint.ide.hover_facts import Known
from shardlint.output.report.style import CSS
from shardlint.output.report.svg import axes_caption, mesh_picture, share_picture
from shardlint.support.media import html

#: The most arrays on a page.
_MOST = 12
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def layout_page(title: str, values: Iterable[Known]) -> str:
    """Return the page about the facts on a line."""
    arrays = [known for known in values if known.shape is not None]
    # The name of a placed array often stands beside the call that places it.
    placed = {(k.shape, k.dtype, k.spec, k.mesh): k for k in reversed(arrays) if k.mesh is not None}
    shown = sorted(placed.values(), key=lambda known: known.span.order())
    shown = shown or list(dict.fromkeys(arrays)) or [k for k in values if k.mesh is not None][:1]
    cards = "".join(_card(known) for known in shown[:_MOST])
    more = f"<p class=small>and {len(shown) - _MOST} more</p>" if len(shown) > _MOST else ""
    nothing = "<p class=small>No array, spec or mesh is known on this line.</p>"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv=Content-Security-Policy content="{_POLICY}">'
        f'<meta name="color-scheme" content="light dark"><title>{html(title)}</title>'
        f"<style>{CSS}</style></head>\n<body class=panel><p class=small>{html(title)}</p>"
        f"<div class=layouts>{cards or nothing}</div>{more}</body></html>\n"
    )


def _card(known: Known) -> str:
    array = "" if known.array is None else f" <code>{html(known.array)}</code>"
    size = f" <span class=small>{html(known.bytes_text)}</span>" if known.bytes_text else ""
    rows = "".join(f"<tr><th>{name}<td>{value}" for name, value in _rows(known))
    return (
        f"<div class=card><p><span class=name>{html(known.subject.replace('`', ''))}</span>{array}{size}</p>"
        f"{_picture(known)}<table>{rows}</table></div>"
    )


def _rows(known: Known) -> Iterator[tuple[str, str]]:
    if known.local:
        yield "on each device", f"<code>{html(str(known.array))}</code>, inside shard_map"
    if known.spec is not None:
        yield "spec", f"<code>{html(str(known.spec))}</code>"
    elif known.in_jit:
        yield "spec", "none is written: the compiler decides"
    if known.mesh is not None:
        yield "mesh", f"<code>{html(str(known.mesh))}</code>"
    if known.refused:
        yield "each device holds", "<span class=bad>nothing: JAX refuses it</span>"
    if known.shard_text is not None:
        size = f" <span class=small>{html(known.shard_bytes_text)}</span>" if known.shard_bytes_text else ""
        yield "each device holds", f"<code>{html(known.shard_text)}</code>{size}"
    if known.copies is not None:
        yield "every part is on", f"{html(str(known.copies))} {'device' if known.copies == 1 else 'devices'}"
    for dimension in known.replicated:
        yield (
            "dropped",
            f"<span class=warn>JAX silently replicates dimension {dimension}, which its axes do not divide"
            "</span>",
        )


def _picture(known: Known) -> str:
    """Return drawings of the devices and of one share; empty where they are not known, or too many."""
    placed = known.placed
    if placed is None or known.shard is None or not known.is_drawn:
        return ""
    mesh, spec, shape = placed
    caption = f"<p class=small>{axes_caption(mesh)}; same number, same part</p>"
    return f"{mesh_picture(mesh, spec)}{caption}{share_picture(mesh, spec, len(shape))}"
