"""What the records of a run tell: delay, friction, static friction, the fitted model."""
