"""What a form costs: measured by scalars that count, and printed in the documents."""
