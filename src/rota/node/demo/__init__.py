"""Example jobs for `rota up --demo`: something to look at on the first day. Room: node."""
