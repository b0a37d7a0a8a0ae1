"""The demo: ``python -m demo.run``."""
