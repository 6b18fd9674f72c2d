"""Claude Code's hooks: its payloads in, our answers out."""

import gc

# A hook makes some ten thousand objects, none of them waste, and ends: the cycle collector would only walk them. It is said
# here because what a hook imports first is part of it.
gc.set_threshold(50_000)
