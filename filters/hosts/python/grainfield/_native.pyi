from typing import List, Optional, Tuple

import numpy as np

__version__: str

class Error(ValueError): ...

class Look:
    def __new__(cls, chain: Optional[str] = None, recipe: Optional[str] = None, seed: Optional[int] = None) -> Look: ...
    @property
    def chain(self) -> str: ...
    def bind(
        self,
        height: int,
        width: int,
        channels: int,
        bits: int,
        rate: str,
        last: Optional[int],
        fields: str,
        transfer: str,
    ) -> Bound: ...

class Bound:
    @property
    def bits(self) -> int: ...
    def run(self, source: Optional[np.ndarray], target: np.ndarray, start: int) -> None: ...

def chain_text(filter: str, arguments: List[Tuple[str, List[str]]]) -> str: ...
