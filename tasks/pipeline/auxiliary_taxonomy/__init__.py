"""A second taxonomy whose titles train beside the first one's."""
