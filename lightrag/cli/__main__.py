"""``python -m lightrag.cli``: the same as ``lightrag``."""

import sys

from lightrag.cli import main

sys.exit(main())
