"""Example jobs for `rota up --demo`."""
