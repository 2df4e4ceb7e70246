"""The node `computed_torque`: messages and parameters to arrays, and back."""
