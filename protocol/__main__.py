"""`python -m protocol`: the command line from a source tree, where nothing is installed."""

from __future__ import annotations

import sys
from pathlib import Path

# `-m` puts the working directory first on the path, and what lies there could stand in for any module.
_ROOT = str(Path(__file__).resolve().parent.parent)
if not sys.flags.safe_path:
    sys.path[0] = _ROOT

from protocol.cli import main  # noqa: E402 - after the path is put right

sys.exit(main())
