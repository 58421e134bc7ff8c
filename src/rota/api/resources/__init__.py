"""Declares the operations, one module per resource."""

import importlib
import pkgutil


def load_operations() -> None:
    """Import every module here, so that it declares its operations."""
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda info: info.name):
        importlib.import_module(f"{__name__}.{module.name}")
