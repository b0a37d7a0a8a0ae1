"""What the demo's questions and its server set alike."""

# A graph of its own for what a reader knows after each chapter of the mystery.
SCOPE_PREFIXES = ["known-in-chapter:"]

# The port of the server, where no other is asked for.
DEFAULT_PORT = 9621
