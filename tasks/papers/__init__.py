"""The papers' own experiments: Table 3 and the similarity track."""
