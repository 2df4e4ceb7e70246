"""Trajectories with efforts: the model's efforts at each point, and the files that hold them."""
