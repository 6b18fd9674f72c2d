"""Setting mait-code up inside Claude Code, and taking it out again."""
