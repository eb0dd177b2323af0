"""The first paper's network on sentences, beside the encoders of the others."""
