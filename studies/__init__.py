"""Studies that make tables, figures and pictures of doc/: not installed."""
