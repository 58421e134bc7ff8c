"""One module per command: arguments in, a call to node or sdk, output. Room: cli."""
