"""The node `annotator`: trajectories with their efforts, for a controller that stays."""
