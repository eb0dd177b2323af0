"""What a consumer loads: a folder of files, and one file of Python that answers from them."""
