"""From the recursion to straight-line source and machine code."""
