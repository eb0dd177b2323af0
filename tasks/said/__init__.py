"""What people said of titles: who, what and when, what holds, and how far they agree."""
