"""What launch files share: arguments, order of starting."""
