"""Model providers that misbehave over real HTTP."""
