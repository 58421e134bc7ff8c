"""Api: the HTTP door, wire shapes, routes and problems. Floor 4."""
