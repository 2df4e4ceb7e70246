"""A fitted model as URDF and extras, both or neither."""
