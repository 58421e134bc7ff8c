"""One module per command: parses arguments, calls the client or a process, prints the result."""
