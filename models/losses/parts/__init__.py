"""What several losses share: who is whose negative, and which is chosen."""
