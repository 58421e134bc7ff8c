"""Typed settings: what can be set, from where, and what is wrong with it. Room: config, floor 2.

    settings.py    every setting: type, default, bounds, meaning
    executors.py   those of the executors, and the things that jobs know by name only
    declaring.py   how a setting is declared
    fields.py      the same as a flat list: `worker.slots`, `ROTA_WORKER__SLOTS`
    load.py        file, then variables, then flags; checked once
    references.py  secrets that are looked up elsewhere, by the process that needs them
    describe.py    the reference page

Settings stop at the room node: services receive plain values and know no setting's name.
"""
