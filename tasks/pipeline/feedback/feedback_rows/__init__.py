"""The cells of a feedback file, parsed and repaired."""
