"""The command line: the only package that reads arguments and the environment."""
