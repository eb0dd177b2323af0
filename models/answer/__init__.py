"""What a title is answered: index, occupation scores, abstention, answer."""
