"""Operations and shapes of the API, rendered by `make generate`; do not edit. Room: sdk/client."""
