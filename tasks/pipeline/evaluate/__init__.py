"""The network on every test."""
