"""Penalties, margins, sampling ratios and typo rates of the contrastive loss."""
