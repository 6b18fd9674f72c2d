"""Bringing in what other tools hold: their rows become events that every machine derives alike."""
