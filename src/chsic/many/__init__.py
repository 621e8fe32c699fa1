"""Many tests: screens, questions of discovery, settings, and simulated data."""
