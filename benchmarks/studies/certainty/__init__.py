"""How far the confidence of the pipeline's own answers can be trusted."""
