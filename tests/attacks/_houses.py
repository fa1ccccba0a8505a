"""The houses of the other tests lie beside those; a package finds them only where it is told."""

from __future__ import annotations

import sys
from pathlib import Path

for _folder in ("pages", "board", "mturk"):
    _path = str(Path(__file__).parents[1] / _folder)
    if _path not in sys.path:
        sys.path.insert(0, _path)
