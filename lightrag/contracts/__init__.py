"""What every storage backend and every model must offer; one abstract class per store."""
