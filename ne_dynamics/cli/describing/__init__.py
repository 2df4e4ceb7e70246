"""What the subcommand `whatis` is made of: where its recording comes from."""
