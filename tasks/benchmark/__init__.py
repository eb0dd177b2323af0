"""A published benchmark of titles: a folder and a model in, measures of retrieval out."""
