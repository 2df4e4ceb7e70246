"""The command ``ne_dynamics``: one module per subcommand."""
