"""Claims waiting runs for the free slots of a worker."""
