"""Driving the real client: where it is found, the model it talks to, the machine it runs on, and its terminal."""
