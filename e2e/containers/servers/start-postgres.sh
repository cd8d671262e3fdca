#!/bin/sh
# Starts Postgres as the image of that name does: with a password, and with scripts that run once, for a new data folder.
set -eu
data=/var/lib/postgresql/data
bin=$(dirname /usr/lib/postgresql/*/bin/postgres)
as_owner() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }
mkdir -p "$data"
chown postgres:postgres "$data"
chmod 700 "$data"
if [ ! -s "$data/PG_VERSION" ]; then
  echo "$POSTGRES_PASSWORD" >/tmp/password
  chown postgres:postgres /tmp/password
  as_owner "$bin/initdb" -D "$data" --username=postgres --pwfile=/tmp/password --encoding=UTF8 --no-locale \
    --auth-local=trust --auth-host=scram-sha-256
  rm /tmp/password
  echo 'host all all all scram-sha-256' >>"$data/pg_hba.conf"
  as_owner "$bin/pg_ctl" -D "$data" -w start -o "-c listen_addresses=''"
  for script in /docker-entrypoint-initdb.d/*.sh; do as_owner sh "$script"; done
  as_owner "$bin/pg_ctl" -D "$data" -w stop
fi
exec setpriv --reuid=postgres --regid=postgres --clear-groups "$bin/postgres" -D "$data" -c listen_addresses='*'
