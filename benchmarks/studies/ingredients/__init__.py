"""What each ingredient of the champion brings."""
