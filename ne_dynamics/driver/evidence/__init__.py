"""How well each reading of a log fits the equations of motion, and what that says is wrong."""
