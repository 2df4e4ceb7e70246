"""Import path of the modules beside the tests."""

from __future__ import annotations

import sys
from pathlib import Path

TEST = Path(__file__).resolve().parents[1]
for folder in (TEST / 'algorithms', TEST / 'codegen', TEST / 'oracles'):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
