"""Tensors only: runs with torch, numpy, scipy, pyarrow and safetensors, and nothing else."""
