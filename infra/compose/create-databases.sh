#!/bin/sh
# Run by the Postgres image when its data folder is new: a database and a role of its own for each service that keeps one.
set -eu
create() {
  psql --set ON_ERROR_STOP=1 --username postgres --set role="$1" --set password="$2" <<'SQL'
CREATE ROLE :"role" LOGIN PASSWORD :'password';
CREATE DATABASE :"role" OWNER :"role";
REVOKE CONNECT ON DATABASE :"role" FROM PUBLIC;
SQL
}
create org_access "$ORG_ACCESS_PASSWORD"
create control_plane "$CONTROL_PLANE_PASSWORD"
create oauth_broker "$OAUTH_BROKER_PASSWORD"
create registry "$REGISTRY_PASSWORD"
create run_history "$RUN_HISTORY_PASSWORD"
# Roles of deployments reach their own databases alone, and leave nothing in what new ones are copied from.
psql --set ON_ERROR_STOP=1 --username postgres --command 'REVOKE CONNECT, TEMPORARY ON DATABASE postgres, template1 FROM PUBLIC'
