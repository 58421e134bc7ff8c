"""Store: the only room that knows PostgreSQL. Floor 2.

One statement per file under sql/, called only through the typed functions of the module named
after its table. Rows become values here and values become rows; decisions about time, retries or
policy are core's. embedded/ runs a PostgreSQL of our own when no server is given.
"""
