"""Every command, the module it lives in and its help line: what `--help` shows and what running one imports.

A help line is the first sentence of the command's docstring without its full stop; a test compares the two.
"""

from __future__ import annotations

from mait_code.commands.cli.frame import Table

__all__ = ["ROOT"]

BOARD = Table(
    "Cards on a board: backlog, refined, in progress, in review, done",
    {
        "add": ("board:add", "Add a card to the backlog"),
        "list": ("board:list_cards", "List cards, most urgent first"),
        "show": ("board:show", "Show one card whole"),
        "move": ("board_moves:move", "Move a card to a column"),
        "refine": ("board_moves:refine", "Describe a card and move it to refined"),
        "next": ("board_moves:next_card", "Show or claim the next card to work on"),
        "complete": ("board_moves:complete", "Move a card to done with a summary"),
        "archive": ("board_moves:archive", "Put a card away"),
        "block": ("board_edits:block", "Mark a card as blocked"),
        "unblock": ("board_edits:unblock", "Take the blocked mark off a card"),
        "tag": ("board_edits:tag", "Tag a card"),
        "untag": ("board_edits:untag", "Take a tag off a card"),
        "ref": Table(
            "Links and other references of a card",
            {
                "add": ("board_edits:ref_add", "Add a reference to a card"),
                "remove": ("board_edits:ref_remove", "Remove a reference by its position"),
                "list": ("board_edits:ref_list", "List the references of a card"),
            },
        ),
        "comment": ("board_edits:comment", "Comment on a card"),
        "edit": ("board_edits:edit", "Change the fields of a card"),
        "remove": ("board_moves:remove", "Delete a card"),
        "restore": ("board_moves:restore", "Bring a deleted card back"),
        "bind": ("board_moves:bind", "Bind a card to this session"),
        "unbind": ("board_moves:unbind", "Release a card from its session"),
        "summary": ("board:summary", "Count the cards of each column"),
        "export": ("board:export", "Write cards as Markdown or JSON"),
    },
    summary="board:overview",
    screen="board",
)

INBOX = Table(
    "Thoughts captured now, sorted later",
    {
        "add": ("inbox:add", "Capture a thought"),
        "list": ("inbox:list_items", "List what is waiting, oldest first"),
        "show": ("inbox:show", "Show one item whole"),
        "count": ("inbox:count", "Count what is waiting"),
        "edit": ("inbox:edit", "Change the text of an item"),
        "triage": ("inbox:triage", "Turn an item into a card, a reminder or a memory, or be done with it"),
        "done": ("inbox:done", "Mark an item as dealt with"),
        "remove": ("inbox:remove", "Delete an item"),
        "restore": ("inbox:restore", "Bring an item back"),
        "drain": ("bridge:drain", "Take in what came over the bridge"),
    },
    summary="inbox:overview",
    screen="inbox",
)

REMINDERS = Table(
    "Things to be told about at a time",
    {
        "set": ("reminders:set_reminder", "Set a reminder"),
        "list": ("reminders:list_reminders", "List reminders by due time"),
        "show": ("reminders:show", "Show one reminder whole"),
        "check": ("reminders:check", "Print what is overdue"),
        "snooze": ("reminders:snooze", "Put a reminder off"),
        "edit": ("reminders:edit", "Change the text or time of a reminder"),
        "dismiss": ("reminders:dismiss", "Dismiss a reminder"),
        "remove": ("reminders:remove", "Delete a reminder"),
        "restore": ("reminders:restore", "Bring a reminder back"),
    },
    summary="reminders:overview",
    screen="reminders",
)

MEMORY = Table(
    "What is remembered, and finding it again",
    {
        "search": ("memory_search:search", "Find memories, and observations, summaries, prompts and turns, best first"),
        "store": ("memory:store", "Store a memory"),
        "list": ("memory_views:list_memories", "List memories, newest first"),
        "show": ("memory_views:show", "Show memories whole, or observations, summaries, prompts and turns"),
        "timeline": ("memory_views:timeline", "Show what came before and after something, in the order of time"),
        "edit": ("memory_edits:edit", "Correct a memory"),
        "supersede": ("memory_edits:supersede", "Put a new memory in the place of an old one"),
        "merge": ("memory_edits:merge", "Make one memory of several"),
        "retire": ("memory_edits:retire", "Put a memory away that is true no longer"),
        "delete": ("memory_edits:delete", "Delete a memory"),
        "restore-entry": ("memory_edits:restore_entry", "Bring a deleted, retired or superseded memory back"),
        "pin": ("memory_edits:pin", "Pin a memory"),
        "unpin": ("memory_edits:unpin", "Unpin a memory"),
        "review": ("memory_views:review", "List memories that are due for review, most decayed first"),
        "reviewed": ("memory_edits:reviewed", "Say that a memory is still true"),
        "duplicates": (
            "memory_duplicates:duplicates",
            "List pairs of memories that say nearly the same, closest first",
        ),
        "stats": ("memory_views:stats", "Count memories by type, class, scope and project, and what has vectors"),
        "reindex": ("memory_transfer:reindex", "Embed everything that has no vectors yet"),
        "export": ("memory_transfer:export", "Write everything that is remembered as JSON lines"),
        "import": ("memory_transfer:import_lines", "Take in what `memory export` wrote"),
        "entities": ("graph:entities", "List who and what memories speak of; merge two of them, or remove one"),
        "relationships": ("graph:relationships", "Show how one of them relates to others"),
        "reflect": ("reflect:reflect", "Have a model look over new memories, and decide on what it proposes"),
        "canonicalize-projects": (
            "projects:canonicalize",
            "Move memories under old names of projects to the present ones",
        ),
        "restore": ("projects:restore", "Make memory.db again from the journal, and say what it holds"),
    },
    summary="memory_views:overview",
    screen="memory",
)

REVIEW = Table(
    "Memories that are due to be looked at again",
    {
        "list": ("memory_views:list_due", "List memories that are due for review, most decayed first"),
    },
    summary="memory_views:due_overview",
    screen="review",
)

OBSERVATIONS = Table(
    "What was captured, day by day, and whether it was reflected on",
    {
        "list": ("observations:list_days", "List days with their sessions, the latest first"),
    },
    summary="observations:overview",
    screen="observations",
)

GRAPH = Table(
    "Who and what memories speak of, and how they relate",
    {
        "list": ("graph:list_things", "List who and what memories speak of, the most mentioned first"),
        "relationships": ("graph:relationships", "Show how one of them relates to others"),
    },
    summary="graph:overview",
    screen="graph",
)

TIMELINE = Table(
    "What happened, on which machine, as it happens",
    {
        "list": ("timeline:list_events", "List the latest events, all or some of them"),
    },
    summary="timeline:overview",
    screen="timeline",
)

LOGS = Table(
    "What ran on this machine, how long it took and how it ended",
    {
        "list": ("logs:list_logs", "List what ran here last, how long it took and how it ended"),
    },
    summary="logs:overview",
    screen="logs",
)

BRIDGE = Table(
    "Thoughts from your phone into the inbox, and due reminders to it",
    {
        "status": ("bridge:status", "Show whether the bridge is on, its channel, and how its last run went"),
        "configure": ("bridge:configure", "Set up the channel of this machine"),
        "enable": ("bridge:enable", "Turn the bridge on"),
        "disable": ("bridge:disable", "Turn the bridge off"),
        "test": ("bridge:test", "Publish one message, and say what came of it"),
        "run": ("bridge:run", "Take in what was published, and publish what is due, once"),
    },
    summary="bridge:overview",
)

OBSERVE = Table(
    "What a model makes of sessions",
    {
        "status": ("observe:status", "Show who is asked about sessions, what today took, and what waits"),
        "retry": ("observe:retry", "Try again what failed or was put aside"),
        "run": ("observe:run", "Record what is in a transcript and have it understood, now"),
    },
    summary="observe:overview",
)

IMPORT = Table(
    "Bring in what other tools hold",
    {
        "mait-code": (
            "importing:mait_code",
            "Bring in a data directory of mait-code as it was before: memories, board, inbox, reminders",
        ),
        "claude-mem": (
            "importing:claude_mem",
            "Bring in a database of claude-mem: sessions, prompts, observations, summaries",
        ),
        "claude-native": ("importing:claude_native", "Bring in the memory files that Claude Code keeps itself"),
    },
)

SETTINGS = Table(
    "Settings: what they are, where each comes from",
    {
        "list": ("settings:list_settings", "List every setting with its value and source"),
        "get": ("settings:get", "Print one setting and its source"),
        "set": ("settings:set_setting", "Change a setting in settings.toml"),
        "unset": ("settings:unset", "Return a setting to its default"),
    },
    summary="settings:overview",
    screen="settings",
)

PROJECTS = Table(
    "Projects and the other names they go by",
    {
        "list": ("projects:list_projects", "List projects, with their other names"),
        "alias": ("projects:alias", "Say that a project went by another name"),
        "unalias": ("projects:unalias", "Take another name back"),
    },
    summary="projects:overview",
)

SESSIONS = Table(
    "Sessions of Claude Code, and what was done in them",
    {
        "list": ("sessions:list_sessions", "List sessions of Claude Code, the latest first"),
        "show": ("sessions:show", "Show what happened in one session"),
    },
    summary="sessions:overview",
)

PERMISSIONS = Table(
    "Commands that Claude may run without asking",
    {
        "list": ("install:permissions_list", "List the presets, and which are allowed"),
        "add": (
            "install:permissions_add",
            "Let Claude run the commands of a preset, or of a group of them, without asking",
        ),
        "remove": ("install:permissions_remove", "Have Claude ask again before the commands of a preset or group"),
    },
    summary="install:permissions_overview",
)

CONFLICTS = Table(
    "Fields that two machines changed without knowing of each other",
    {
        "list": ("conflicts:list_conflicts", "List open conflicts"),
        "show": ("conflicts:show", "Show one conflict: who, where and when"),
        "pick": ("conflicts:pick", "Choose a value and close a conflict"),
    },
    summary="conflicts:overview",
    screen="conflicts",
)

HOME = Table(
    "How things stand, and the way to everything else",
    {
        "show": ("home:show", "Tell how things stand: board, reminders, inbox, memory, conflicts"),
    },
    summary="home:overview",
    screen="home",
)

ROOT = Table(
    "A companion for people who work in Claude Code",
    {
        "home": HOME,
        "board": BOARD,
        "inbox": INBOX,
        "reminders": REMINDERS,
        "memory": MEMORY,
        "review": REVIEW,
        "observations": OBSERVATIONS,
        "graph": GRAPH,
        "sessions": SESSIONS,
        "context": ("context:context", "Print what a session is told when it starts here"),
        "observe": OBSERVE,
        "bridge": BRIDGE,
        "import": IMPORT,
        "projects": PROJECTS,
        "init": ("sync:init", "Make the data directory a git repository, with a remote if you name one"),
        "sync": ("sync:sync", "Exchange events with the other machines"),
        "conflicts": CONFLICTS,
        "undo": ("history:undo", "Take back the last action, or a named one"),
        "history": ("history:history", "Show every event of one thing"),
        "log": ("history:log", "Show events as they happened"),
        "timeline": TIMELINE,
        "logs": LOGS,
        "replicas": ("journal:replicas", "List the machines that wrote here"),
        "verify": ("journal:verify", "Check the journal and the stores"),
        "rebuild": ("journal:rebuild", "Make the stores again from the journal"),
        "digest": ("journal:digest", "Print a fingerprint of everything that is known"),
        "install": ("install:install", "Set mait-code up in Claude Code: hooks, skills, and your own documents"),
        "uninstall": ("install:uninstall", "Take mait-code out of Claude Code, and leave its files as they were"),
        "update": ("install:update", "Bring mait-code up to date, and with it what is in Claude Code"),
        "status": ("install:status", "Show what is installed in Claude Code"),
        "permissions": PERMISSIONS,
        "doctor": ("doctor:doctor", "Look for trouble, and repair it if asked"),
        "settings": SETTINGS,
        "completion": ("about:completion", "Print a completion script for your shell"),
        "tour": ("tour:tour", "See two machines disagree and agree again"),
        "version": ("about:version", "Print the version"),
    },
    summary="home:overview",
    screen="home",
)
