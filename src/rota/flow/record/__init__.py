"""Record: outcomes become rows of history, and history is kept by the day. Room: flow."""
