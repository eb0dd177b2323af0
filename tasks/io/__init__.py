"""Files between stages: schemas, frames, queries, sections of `params.yaml`."""
