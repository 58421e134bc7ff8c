"""Declares, reads and validates the settings of all processes.

    settings.py    every setting: type, default, bounds, meaning
    executors.py   settings of the executors, and resources that jobs refer to by name
    declaring.py   helpers that declare a setting
    fields.py      all settings as a flat list: `worker.slots`, `ROTA_WORKER__SLOTS`
    load.py        reads the file, then variables, then flags, and validates once
    references.py  resolves secrets that a setting refers to
    describe.py    renders the reference page

Only the process layer reads settings: services receive plain values.
"""
