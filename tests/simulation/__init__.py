"""Many nodes, one clock, interleavings that hypothesis chooses."""
