# shellcheck shell=bash
# Shared by the scripts of this folder, to be sourced: what they print, and how long a stage took.

say() { printf '\n== %s\n' "$*"; }

fail() {
    printf 'ci: %s\n' "$*" >&2
    exit 1
}

# stage NAME COMMAND...: run a command, note how long it took, and end with its exit code.
# The times go to the file $STAGES.
stage() {
    local name=$1 began=$SECONDS code=0
    shift
    say "$name"
    # Not `"$@" || code=$?`: that would switch `set -e` off inside shell functions.
    set +e
    "$@"
    code=$?
    set -e
    printf '%4ds  %-10s %s\n' "$((SECONDS - began))" "$([ "$code" = 0 ] && echo ok || echo FAILED)" "$name" >>"$STAGES"
    return "$code"
}
