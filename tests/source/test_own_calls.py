"""Calls of a project's own functions are no calls of JAX's, whatever their names are."""

from __future__ import annotations

from shardlint.report.api_coverage import coverage_of
from shardlint.source.sources import source_from_text

UTILS = """
import jax
from jax.experimental.shard_map import shard_map

def reshard(tree, shardings):
    return jax.tree.map(lambda x, s: jax.device_put(x, s), tree, shardings)
"""
TRAIN = """
import jax
import project.utils as u
from project import utils
from project.utils import reshard as move, reshard, shard_map
from jax.sharding import NamedSharding

def psum(x):
    return sum(x)

def main(x, s, mesh):
    a = u.reshard(x, s)
    b = utils.reshard(x, s)
    c = reshard(x, s)
    d = jax.sharding.reshard(x, s)
    e = u.reshard(jax.device_put(x, s), s)
    f = shard_map(lambda x: x, mesh, s, s)
    g = psum([a, b])
    h = jax.lax.psum(x, "data")
    i = x.reshard(s)
    return NamedSharding(mesh, s)
"""


def test_own_functions_are_no_sites() -> None:
    sources = [source_from_text("project/utils.py", UTILS), source_from_text("project/train.py", TRAIN)]
    found = [(one.site.span.path, one.site.span.line, one.site.name) for one in coverage_of(sources, [])]
    assert found == [
        ("project/utils.py", 6, "device_put"),
        ("project/train.py", 15, "reshard"),
        ("project/train.py", 16, "device_put"),
        ("project/train.py", 17, "shard_map"),
        ("project/train.py", 19, "psum"),
        ("project/train.py", 20, "reshard"),
        ("project/train.py", 21, "NamedSharding"),
    ]
