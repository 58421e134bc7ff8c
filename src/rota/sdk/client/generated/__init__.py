"""Operations and schemas of the API, rendered by `make generate`; do not edit."""
