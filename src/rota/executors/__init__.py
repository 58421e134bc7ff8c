"""Contains the built-in executors: plug-ins that each run one kind of job, one package each."""
