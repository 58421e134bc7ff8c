"""Jobs as a file declares them: what may be declared, and how it differs from what is there.

Room: core/manifest. Pure: reading a file is sdk/code, looking and writing is flow/submit/applying.
"""
