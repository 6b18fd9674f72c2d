#!/bin/sh
# Runs a hook program for the plug-in: launch.sh PROGRAM [ARGUMENT ...], with the client's input on stdin.
#
# A plug-in brings no program along, so this finds the one that is installed, and says once how to install it where there is
# none. It always ends with 0: no session fails for want of us.
set -u

# A hook that is not to run still takes its input, or the client would write into a closed pipe.
pass() {
    cat >/dev/null 2>&1
    exit 0
}

program=${1:-}
[ -n "$program" ] || pass
[ -z "${MAIT_CODE_QUIET:-}" ] || pass
home=${HOME:-}

# What `mait-code install` registered runs already: the same hook from here would run twice.
claude=${CLAUDE_CONFIG_DIR:-$home/.claude}
if grep -q 'mc-hook-' "$claude/settings.json" 2>/dev/null; then pass; fi

# One hook is off unless a setting says otherwise. Asked here, since starting Python only to find that out costs each prompt.
is_on() {
    if [ -n "$2" ]; then
        case $2 in [Tt][Rr][Uu][Ee] | [Yy][Ee][Ss] | [Oo][Nn] | 1) return 0 ;; *) return 1 ;; esac
    fi
    grep -Eiq "^[[:space:]]*\"?$1\"?[[:space:]]*=[[:space:]]*[\"']?(true|yes|on|1)[\"']?[[:space:]]*(#.*)?\$" \
        "${XDG_CONFIG_HOME:-$home/.config}/mait-code/settings.toml" 2>/dev/null
}
if [ "$program" = mc-hook-prompt ]; then
    is_on inject-on-prompt "${MAIT_CODE_INJECT_ON_PROMPT:-}" || pass
fi

data=${XDG_DATA_HOME:-$home/.local/share}
root=${CLAUDE_PLUGIN_ROOT:-$(cd "$(dirname "$0")/.." 2>/dev/null && pwd)}
found=$(command -v "$program" 2>/dev/null) || found=
if [ -z "$found" ]; then
    # Where uv and pipx put programs and the environments behind them, newest habit first; last, a checkout's own.
    for place in \
        "${UV_TOOL_BIN_DIR:-}" "${XDG_BIN_HOME:-}" "${PIPX_BIN_DIR:-}" "$home/.local/bin" \
        "${UV_TOOL_DIR:-$data/uv/tools}/mait-code/bin" \
        "${PIPX_HOME:-$data/pipx}/venvs/mait-code/bin" \
        "$home/.local/pipx/venvs/mait-code/bin" \
        "$home/Library/Application Support/pipx/venvs/mait-code/bin" \
        "$root/.venv/bin"; do
        if [ -n "$place" ] && [ -x "$place/$program" ]; then
            found=$place/$program
            break
        fi
    done
fi
if [ -n "$found" ]; then
    shift
    # Tells the program that no CLAUDE.md imports the user's documents: they go into the session's context instead.
    MAIT_CODE_PLUGIN=1
    export MAIT_CODE_PLUGIN
    exec "$found" "$@"
fi

if [ "$program" = mc-hook-session-start ]; then
    notes=${CLAUDE_PLUGIN_DATA:-${XDG_STATE_HOME:-$home/.local/state}/mait-code}
    if [ ! -e "$notes/said-how-to-install" ]; then
        mkdir -p "$notes" 2>/dev/null && : >"$notes/said-how-to-install" 2>/dev/null
        printf '%s\n' '{"systemMessage":"mait-code: the plug-in is enabled, but its program is not installed. From a checkout of mait-code: uv tool install . (or: pipx install .), then start a new session."}'
    fi
fi
pass
