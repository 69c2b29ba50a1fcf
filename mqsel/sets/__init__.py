"""Many selectors at once: the set, its file, how it chooses an engine, and how messages are read for it."""
