"""Trajectories with efforts: the model's efforts at each point."""
