# Shared by the scripts in this directory; sourced, never run.
# The caller is `set -eu`, stands in the checkout and has set `me` to its own name.

fail() {
    echo "$me: $*" >&2
    exit 1
}

# Sets `python` to an interpreter that is new enough and can make virtual environments.
find_python() {
    for python in "${PYTHON:-}" python3 python3.13 python3.12 python3.11; do
        [ -n "$python" ] || continue
        "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break
        python=
    done
    [ -n "$python" ] || fail "Python 3.11 or newer is missing. Debian 12: apt-get install python3 python3-venv"
    "$python" -c 'import venv, ensurepip' 2>/dev/null ||
        fail "Python's venv module is missing. Debian: apt-get install python3-venv"
}

need_git() {
    git --version >/dev/null 2>&1 || fail "git is missing. Debian: apt-get install git"
}

# install FILE: .venv with the packages of a requirements file.
# A stamp makes the second time instant, and needs no network.
install() {
    exec 9<script
    flock 9 # one at a time: serve and test may be started together
    if ! .venv/bin/python -c 'import pip' 2>/dev/null; then
        find_python
        "$python" -m venv --clear .venv
    fi
    stamp=.venv/.installed-$1
    now=$(.venv/bin/python -V && cat requirements.txt "$1")
    if [ "$now" != "$(cat "$stamp" 2>/dev/null)" ]; then
        echo "Installing the Python packages of $1 into .venv; this once, about a minute…"
        # Compiled when first imported: most of what comes along never is.
        .venv/bin/python -m pip install --quiet --disable-pip-version-check \
            --no-warn-script-location --no-compile -r "$1" || fail "pip could not install $1; see above."
        printf '%s' "$now" >"$stamp"
    fi
    exec 9<&-
}
