"""The common part of all filters: arrays in and out, settings as text, and chains of filters."""

from __future__ import annotations

import functools
import os
import sys
from fractions import Fraction
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from ._native import Error, Look, __version__, chain_text

__all__ = ["Chain", "Error", "__version__"]

# : A NumPy array, or any CPU array that supports DLPack without a copy.
Array = Any
#: A number, keys as in a chain ("0=0;48=12"), or a number for each frame from 0 on.
Number = Union[float, str, Sequence[float]]
# : x and y, or keys.
Position = Union[Tuple[float, float], str]
#: "#ff8000", a name, three or four numbers from 0 to 1, or keys.
Colour = Union[str, Sequence[float]]
Path = Union[str, "os.PathLike[str]"]
# : Frames per second.
Rate = Union[int, float, str, Fraction]

#: Settings that name files.
_FILES = ("image", "effect", "shape", "obstacle", "table", "plate", "tracks", "file", "mask", "where", "font")

_BITS = {"u1": 8, "u2": 16, "f4": 0}


def _texts(value: Any) -> List[str]:
    """A setting's value for the native part: one text, or several for a sequence."""
    if isinstance(value, (bool, np.bool_)):
        return ["true" if value else "false"]
    if isinstance(value, str):
        return [value]
    if isinstance(value, os.PathLike):
        return [os.fspath(value)]
    if isinstance(value, (int, np.integer)):
        return [str(int(value))]
    if isinstance(value, (float, np.floating)):
        return [repr(float(value))]
    return [text for part in value for text in _texts(part)]


def _rate(rate: Rate) -> str:
    """A rate as text, with a float rounded to the nearest fraction."""
    if isinstance(rate, str):
        return rate
    exact = rate if isinstance(rate, (int, Fraction)) else Fraction(float(rate)).limit_denominator(1001)
    exact = Fraction(exact)
    return f"{exact.numerator}/{exact.denominator}"


def _array(image: Array) -> np.ndarray:
    """The samples, without a copy where possible."""
    if isinstance(image, np.ndarray):
        return image
    # Before DLPack: NumPy imports memory of some other libraries read-only.
    view = getattr(image, "numpy", None)
    if callable(view):
        samples: np.ndarray = view()
        return samples
    if hasattr(image, "__dlpack__"):
        return np.from_dlpack(image)
    return np.asarray(image)


def _like(result: np.ndarray, image: Array) -> Array:
    """The result in the type of the image, if its library supports DLPack."""
    if isinstance(image, np.ndarray) or not hasattr(image, "__dlpack__"):
        return result
    library = sys.modules.get(type(image).__module__.split(".")[0])
    take = getattr(library, "from_dlpack", None)
    return take(result) if callable(take) else result


class Chain:
    """Filters in order, ready for images and clips of any size.

    Args:
        chain: The filters, as for the command line's ``-f``.
        recipe: The name of a TOML recipe; the filters of ``chain`` follow its filters.
        rate: Frames per second, for settings that change over time.
        seed: The seed of the recipe, as ``--seed``.
        last: The number of the last frame, for keys that count from the end.
        fields: ``"top"`` or ``"bottom"`` for interlaced pictures with that field first.
        transfer: The transfer characteristic of samples: ``"srgb"`` (images), ``"linear"``, or another name of FFmpeg.
        sample_bits: Bits per sample in a uint16 array, if not 16.

    It can be used from many threads, pickled, and used after a fork.
    """

    def __init__(
        self,
        chain: Optional[str] = None,
        *,
        recipe: Optional[Path] = None,
        rate: Rate = 24,
        seed: Optional[int] = None,
        last: Optional[int] = None,
        fields: str = "frame",
        transfer: str = "srgb",
        sample_bits: Optional[int] = None,
    ) -> None:
        file = None if recipe is None else os.fspath(recipe)
        self._arguments: Dict[str, Any] = {
            "chain": chain, "recipe": file, "rate": _rate(rate), "seed": seed,
            "last": last, "fields": fields, "transfer": transfer, "sample_bits": sample_bits,
        }  # fmt: skip
        if chain is None and recipe is None:
            raise Error("a chain, such as 'grain=preset=35mm', or a recipe's file is needed")
        self._look = Look(chain, file, seed)
        self._bound: Dict[Tuple[int, ...], Any] = {}

    def __repr__(self) -> str:
        return f"grainfield.Chain({self._look.chain!r})"

    def __reduce__(self) -> Tuple[Any, ...]:
        return (_again, (self._arguments,))

    def __call__(self, image: Array, frame: int = 0, out: Optional[Array] = None) -> Array:
        """One picture, H x W or H x W x C, as frame number ``frame``; or a batch, see :meth:`video`."""
        source = _array(image)
        if source.ndim == 4:
            return self.video(image, start=frame, out=out)
        if source.ndim not in (2, 3):
            raise Error(f"an image has 2 dimensions or 3, H x W x C, not {source.ndim}")
        shape = source.shape
        wide = source.reshape((1, *shape, 1) if source.ndim == 2 else (1, *shape))
        to = None if out is None else _array(out)
        if to is not None and to.shape != shape:
            raise Error(f"out has the shape {to.shape}, the image {shape}")
        made = self._run(wide, frame, None if to is None else to.reshape(wide.shape), source is to)
        if out is not None:
            return out
        return _like(made.reshape(shape), image)

    def video(self, frames: Array, start: int = 0, out: Optional[Array] = None) -> Array:
        """Frames ``start``, ``start + 1`` and so on: N x H x W x C, or N x H x W. ``out`` may be ``frames``."""
        source = _array(frames)
        if source.ndim not in (3, 4):
            raise Error(f"frames have 4 dimensions, N x H x W x C, not {source.ndim}")
        shape = source.shape
        wide = source.reshape((*shape, 1)) if source.ndim == 3 else source
        to = None if out is None else _array(out)
        if to is not None and to.shape != shape:
            raise Error(f"out has the shape {to.shape}, the frames {shape}")
        made = self._run(wide, start, None if to is None else to.reshape(wide.shape), source is to)
        if out is not None:
            return out
        return _like(made.reshape(shape), frames)

    def _bind(self, shape: Tuple[int, ...], dtype: np.dtype) -> Any:
        bits = _BITS.get(dtype.str[1:])
        if bits is None or not dtype.isnative:
            raise Error(f"samples of type {dtype}: uint8, uint16 and float32 are accepted")
        given = self._arguments["sample_bits"]
        if bits == 16 and given is not None:
            bits = given
        height, width, channels = shape
        key = (height, width, channels, bits)
        bound = self._bound.get(key)
        if bound is None:
            own = self._arguments
            bound = self._look.bind(height, width, channels, bits, own["rate"], own["last"], own["fields"], own["transfer"])
            if len(self._bound) >= 8:
                self._bound.clear()
            self._bound[key] = bound
        return bound

    def _run(self, source: np.ndarray, start: int, out: Optional[np.ndarray], same: bool) -> np.ndarray:
        """4-D in, 4-D out; into ``out`` if it is given."""
        if source.size == 0:
            return source.copy() if out is None else out
        bound = self._bind(source.shape[1:], source.dtype)
        made = np.dtype("f4" if bound.bits == 0 else "u1" if bound.bits == 8 else "u2")
        if out is not None and out.dtype != made:
            raise Error(f"out is of type {out.dtype}, the result of {made}")
        if out is not None and not out.flags.writeable:
            raise Error("out cannot be written to")
        # Views may have gaps or shared memory, which needs a copy.
        whole = out is not None and out.flags.c_contiguous and out.flags.aligned
        target = out if whole else np.empty(source.shape, made)
        assert target is not None
        if whole and same and source.dtype == made:
            bound.run(None, target, start)
        else:
            shared = whole and np.may_share_memory(source, target)
            packed = source.copy() if shared else np.require(source, requirements=["C", "A"])
            bound.run(packed, target, start)
        if out is not None and not whole:
            out[...] = target
        return target if out is None else out


def _again(arguments: Dict[str, Any]) -> Chain:
    """For pickle."""
    return Chain(**arguments)


@functools.lru_cache(maxsize=64)
def _kept(chain: str, rate: str, seed: Optional[int], last: Optional[int], transfer: str, bits: Optional[int]) -> Chain:
    return Chain(chain, rate=rate, seed=seed, last=last, transfer=transfer, sample_bits=bits)


def apply(name: str, image: Array, settings: Dict[str, Any], options: Tuple[Any, ...], out: Optional[Array]) -> Array:
    """What the functions of :mod:`grainfield.filters` call."""
    given = [(id, _texts(value)) for id, value in settings.items() if value is not None]
    chain = chain_text(name, given)
    frame, rate, seed, last, transfer, bits = options
    # A file may have changed since it was read.
    files = any(isinstance(value, os.PathLike) or "@" in chain for value in settings.values())
    names = any(settings.get(id) is not None for id in _FILES)
    make = _kept.__wrapped__ if files or names else _kept
    return make(chain, _rate(rate), seed, last, transfer, bits)(image, frame, out)
