"""Penalties, margins and sampling ratios of the contrastive loss."""
