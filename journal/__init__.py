"""What happened: events on disk, their order, and how they travel."""
