"""``python -m mqsel``."""

from mqsel.cli import main

raise SystemExit(main())
