"""What an identification found: text, tables, charts, and what to do about it."""
