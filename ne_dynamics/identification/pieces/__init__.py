"""A fit over logs of any length: rows and sums of pieces, here or on other computers."""
