"""What the recursions run on: elementary functions of any scalar, error bounds, small terms."""
