"""The previous release beside this one: on one schema, on each other's documents, under load."""
