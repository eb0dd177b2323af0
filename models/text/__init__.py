"""From titles as people write them to what encoders and matchers read."""
