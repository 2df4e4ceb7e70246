"""Parameters of the node and their files, and the arm they configure."""
