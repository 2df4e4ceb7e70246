"""What the node tells about itself, and what it notices about others."""
