"""`params.yaml`, read and checked."""
