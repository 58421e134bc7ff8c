"""Jobs as code: reads and writes rota.yaml. Room: sdk/code.

What a file would change, and changing it, is the server's (flow/submit/applying.py): here a file
becomes the request, and what is wrong with it is told by line and column.
"""
