-- Where the agent-api processes of the deployment are reached by its workers, and what opens them: code of a project asks the
-- server it runs in from wherever it runs. A row is renewed while its process lives.
CREATE TABLE api_server (
  server_id   uuid        PRIMARY KEY,
  url         text        NOT NULL,
  token       text        NOT NULL,
  revision_id text,
  seen_at     timestamptz NOT NULL DEFAULT now()
);
