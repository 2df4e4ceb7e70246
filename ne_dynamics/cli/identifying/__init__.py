"""What the subcommand ``identify`` is made of."""
