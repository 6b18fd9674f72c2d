"""What you can do: plain functions that decide and append."""
