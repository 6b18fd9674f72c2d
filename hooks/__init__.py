"""Claude Code's hooks: its payloads in, our answers out."""
