"""DVC's stages: which of them would run, and running them."""
