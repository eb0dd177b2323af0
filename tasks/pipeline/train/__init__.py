"""The Siamese network of a mix."""
