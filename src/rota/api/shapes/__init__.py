"""The JSON that operations take and give. Room: api/shapes."""
