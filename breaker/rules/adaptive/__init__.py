"""The profile `adaptive`: it stops what goes round in circles and lets what gets on repeat itself."""
