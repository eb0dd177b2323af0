"""What is known of vacancy titles before, beside and after a customer's own data."""
