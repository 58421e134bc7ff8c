"""Graph runs: unfolded into the runs of their steps, advanced, paused, mapped. Room: flow."""
