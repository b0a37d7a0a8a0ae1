"""The commands, one module for each group; ``register`` adds them to the application."""
