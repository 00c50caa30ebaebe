#!/bin/sh
# tls.sh: the command over TLS, and passwords that are kept in files: neither
# they nor what opens a key is seen anywhere.
. "$(dirname "$0")/lib.sh"

"$HOLDFAST" version >"$dir/out"
out_has 'rediss' || skip 'the command was built without TLS'

# certificate NAME AUTHORITY SAN
certificate() {
    openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
        -subj "/CN=$1" -keyout "$dir/$1.key" -out "$dir/$1.csr" 2>/dev/null
    echo "subjectAltName=$3" >"$dir/names"
    openssl x509 -req -in "$dir/$1.csr" -CA "$dir/$2.crt" \
        -CAkey "$dir/$2.key" -CAcreateserial -days 9 -extfile "$dir/names" \
        -out "$dir/$1.crt" 2>/dev/null
}
# authority NAME
authority() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
        -days 9 -subj "/CN=authority $1" -keyout "$dir/$1.key" \
        -out "$dir/$1.crt" 2>/dev/null
}
authority ca
authority other
certificate server ca DNS:localhost,IP:127.0.0.1
certificate me ca DNS:me
openssl pkey -in "$dir/me.key" -aes256 -passout pass:open-sesame \
    -out "$dir/locked.key" 2>/dev/null
echo open-sesame >"$dir/opener"
echo secret-word >"$dir/password"
chmod 600 "$dir/opener" "$dir/password"

redis_tls=1
redis_start --requirepass secret-word \
    --tls-cert-file "$dir/server.crt" --tls-key-file "$dir/server.key" \
    --tls-ca-cert-file "$dir/ca.crt"
tls_port=$((redis_port + 1))
tls="rediss://127.0.0.1:$tls_port?tls_ca=$dir/ca.crt"
mine="tls_cert=$dir/me.crt&tls_key=$dir/locked.key"
mine="$mine&tls_key_password_file=$dir/opener"

HOLDFAST_PASSWORD_FILE=$dir/password
export HOLDFAST_PASSWORD_FILE
expect 0 "run over TLS" "$HOLDFAST" run --verbose --url "$tls&$mine" job env
check "the URL is passed on" out_has '^HOLDFAST_URL=rediss://127.0.0.1'
refute "no password in the environment" out_has secret-word
refute "nor what opens the key" out_has open-sesame
refute "no password in the log" err_has secret-word
refute "nor what opens the key there" err_has open-sesame

"$HOLDFAST" run --url "$tls&$mine" job -- sh -c \
    'echo held >"$dir/held"; while [ -e "$dir/held" ]; do sleep 0.05; done' &
job=$!
started $job
need_file "$dir/held"
tr '\0' ' ' <"/proc/$job/cmdline" >"$dir/out"
refute "ps shows no password" out_has secret-word
expect 0 "status over TLS" "$HOLDFAST" status --url "$tls&$mine" job
expect 1 "the doctor over TLS" "$HOLDFAST" doctor --for 10ms "$tls&$mine"
check "has asked the server" out_has ', primary$'
refute "and shows no password" out_has secret-word
expect 75 "it excludes others" "$HOLDFAST" run -n --url "$tls&$mine" job true
rm "$dir/held"
wait $job
check "and ends well" test $? -eq 0

unchecked="rediss://127.0.0.1:$tls_port?tls_verify=off&$mine"
said_once() { [ "$(grep -c 'tls_verify=off:' "$dir/err")" -eq 1 ]; }
expect 0 "a server that is not checked" "$HOLDFAST" run --url "$unchecked" \
    job true
check "gets a warning" said_once
expect 0 "the same with -v" "$HOLDFAST" run -v --url "$unchecked" job true
check "gets one, too" said_once
expect 0 "and with -q" "$HOLDFAST" run -q --url "$unchecked" job true
refute "gets none" said_once

expect 77 "an authority we do not trust" "$HOLDFAST" run \
    --url "rediss://127.0.0.1:$tls_port?tls_ca=$dir/other.crt" job true
check "is said" err_has 'not signed by an authority of tls_ca= (.*openssl rehash'
expect 77 "another name" "$HOLDFAST" run \
    --url "$tls&$mine&tls_name=elsewhere" job true
check "is said, with the names" err_has 'not for elsewhere, but for localhost'
expect 77 "no certificate of ours" "$HOLDFAST" run --url "$tls" job true
check "is said" err_has 'tls_cert='
expect 78 "a key without its opener" "$HOLDFAST" run \
    --url "$tls&tls_cert=$dir/me.crt&tls_key=$dir/locked.key" job true
check "is said" err_has 'is encrypted'
expect 69 "TLS where it is not spoken" "$HOLDFAST" run \
    --url "rediss://127.0.0.1:$redis_port?timeout=2s" job true
check "is said" err_has 'does it speak TLS there'
expect 69 "no TLS where it is" "$HOLDFAST" run \
    --url "redis://127.0.0.1:$tls_port" job true
check "is said" err_has 'rediss://'

chmod 644 "$dir/password"
expect 0 "a password that everybody may read" "$HOLDFAST" run --verbose \
    --url "$redis" job true
check "is warned of" err_has 'chmod 600'
refute "without showing it" err_has secret-word
HOLDFAST_PASSWORD=secret-word expect 78 "two passwords" "$HOLDFAST" run \
    --url "$redis" job true
check "are one too many" err_has 'only one of them'
refute "and are not shown" err_has secret-word
HOLDFAST_PASSWORD_FILE=$dir/none
expect 78 "a file that is not there" "$HOLDFAST" run --url "$redis" job true
check "is named" err_has "password_file: $dir/none: No such file"
finish
