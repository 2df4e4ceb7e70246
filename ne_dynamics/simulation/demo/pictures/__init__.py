"""Pictures of the demo."""
