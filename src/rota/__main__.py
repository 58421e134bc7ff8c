"""`python -m rota` is `rota`."""

from rota.cli.main import main

if __name__ == "__main__":
    main()
