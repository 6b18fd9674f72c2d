"""What is true now: events folded into read stores, and queries over them."""
