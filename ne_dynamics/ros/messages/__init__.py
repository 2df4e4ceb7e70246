"""From and to messages, the long ones without making a Python object of each part."""
