"""What happened in Claude Code, read from its transcripts: evidence, without any model."""
