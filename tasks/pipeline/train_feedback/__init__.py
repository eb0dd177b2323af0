"""The Siamese network of a mix with people's feedback."""
