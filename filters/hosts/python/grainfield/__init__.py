"""Grainfield: deterministic noise, grain and effects for images and clips.

Any frame is a function of the picture, the settings, the seed and the frame number alone, and equals that of the command
line for the same samples, bit for bit. Images are NumPy arrays (or CPU tensors, by DLPack), channels last: uint8, uint16 or
float32; grey, grey with alpha, RGB or RGBA; one image or a batch.

    import grainfield as gf
    out = gf.grain(img, preset="35mm", frame=17)
    look = gf.Chain("grain=preset=35mm,dust=amount=14", rate=24)
    look.video(frames, start=0, out=frames)
"""

from . import filters
from ._chain import Chain, Error, __version__
from .filters import *  # noqa: F403

__all__ = ["Chain", "Error", "__version__", *filters.__all__]
