"""What the cells of a row of feedback mean, whoever and whatever wrote them."""
