# server.sh: what tests that start a database server share.

# as_user USER COMMAND...: database servers refuse to run as root.
as_user() {
    user=$1
    shift
    if [ "$(id -u)" -eq 0 ]; then
        set -- setpriv --reuid="$user" --regid="$user" --clear-groups "$@"
    fi
    exec "$@"
}
# data_directory NAME USER: in $dir, for the server alone.
data_directory() {
    chmod 755 "$dir"
    mkdir -m 700 "$dir/$1"
    [ "$(id -u)" -ne 0 ] || chown "$2" "$dir/$1"
}
