"""Objects of libraries that do not know JAX: files, locks, progress bars. Entered, they set no mesh."""

from __future__ import annotations

import sys

from shardlint.inference.domain.values import Value
from shardlint.laws.core.values import Unknown
from shardlint.support.lazy_dataclass import dataclass

#: Modules of Python's whose objects are files and the like, which hold nothing of the program's.
_OPENING = frozenset(
    "bz2 gzip http io lzma mmap os pathlib socket sqlite3 subprocess tarfile tempfile urllib zipfile".split()
)
#: Modules of Python's in which any context manager may be entered, or anything be replaced.
_ENTERING = frozenset({"asyncio", "contextlib", "unittest"})
#: Functions, of the other modules, that return context managers.
_FUNCTIONS = frozenset(
    {
        "contextlib.chdir",
        "contextlib.redirect_stderr",
        "contextlib.redirect_stdout",
        "decimal.localcontext",
        "multiprocessing.Pool",
        "numpy.errstate",
        "numpy.printoptions",
    }
)
#: Libraries that do not use JAX.
_LIBRARIES = frozenset(
    "PIL aim comet_ml cv2 fsspec gcsfs h5py imageio matplotlib mlflow neptune pandas psutil requests rich "
    "tensorboard tensorboardX tensorflow torch tqdm wandb".split()
)


@dataclass(frozen=True, slots=True)
class Foreign(Unknown):
    """An unknown object of a library that does not know JAX: entering it sets no mesh. So are its parts, and
    what its methods return, if it ``opens`` files and the like; others may hold objects of the program."""

    opens: bool = False

    def part(self) -> Unknown:
        """Return an attribute, or what a call returns, which are not known either."""
        return Foreign(self.reason, self.opens) if self.opens else Unknown(self.reason)


def returned(name: str, value: Value) -> Value:
    """Return what a library's function of a name returned, marked if it is an object of such a library."""
    if type(value) is not Unknown:
        return value
    library, _, rest = name.partition(".")
    if library in _LIBRARIES or name in _FUNCTIONS:
        return Foreign(value.reason)
    if library not in sys.stdlib_module_names or library in _ENTERING:
        return value
    if library in _OPENING:
        return Foreign(value.reason, opens=True)
    return Foreign(value.reason) if rest.rpartition(".")[2][:1].isupper() else value
