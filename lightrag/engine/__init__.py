"""The parts of the engine's public face: fields, and its methods by subject. They delegate and hold no logic."""
