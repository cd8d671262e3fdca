-- Deployments whose images are here. One that was deleted stays for some days, so that nothing that is still on its way is stored for it.
CREATE TABLE deployment (
  id           uuid NOT NULL PRIMARY KEY,
  workspace_id uuid,
  removed_at   timestamptz(3)
);
CREATE INDEX deployment_workspace_id_idx ON deployment (workspace_id);

-- The repository of the layers of base images (packages/image-registry).
INSERT INTO deployment (id) VALUES ('00000000-0000-0000-0000-000000000000');

CREATE TABLE registry_upload (
  id            uuid           NOT NULL PRIMARY KEY,
  deployment_id uuid           NOT NULL REFERENCES deployment (id) ON DELETE CASCADE ON UPDATE CASCADE,
  size          bigint         NOT NULL DEFAULT 0,
  parts         jsonb          NOT NULL DEFAULT '[]',
  changed_at    timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX registry_upload_deployment_id_changed_at_idx ON registry_upload (deployment_id, changed_at);

CREATE TABLE registry_blob (
  deployment_id uuid           NOT NULL REFERENCES deployment (id) ON DELETE CASCADE ON UPDATE CASCADE,
  digest        text           NOT NULL,
  size          bigint         NOT NULL,
  parts         jsonb          NOT NULL,
  -- Its objects are those of a layer of a base image, which others have too.
  is_shared     boolean        NOT NULL DEFAULT false,
  created_at    timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  -- When it was last mounted, where it is the layer of a base image.
  used_at       timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (deployment_id, digest)
);
CREATE INDEX registry_blob_digest_shared_idx ON registry_blob (digest) WHERE is_shared;

CREATE TABLE registry_manifest (
  deployment_id uuid           NOT NULL REFERENCES deployment (id) ON DELETE CASCADE ON UPDATE CASCADE,
  repository    text           NOT NULL,
  digest        text           NOT NULL,
  media_type    text           NOT NULL,
  content       bytea          NOT NULL,
  subject       text,
  artifact_type text,
  created_at    timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (deployment_id, repository, digest)
);
CREATE INDEX registry_manifest_deployment_id_repository_subject_digest_idx
  ON registry_manifest (deployment_id, repository, subject, digest);

CREATE TABLE registry_tag (
  deployment_id uuid NOT NULL REFERENCES deployment (id) ON DELETE CASCADE ON UPDATE CASCADE,
  repository    text NOT NULL,
  tag           text NOT NULL,
  digest        text NOT NULL,
  PRIMARY KEY (deployment_id, repository, tag)
);

-- Objects of the object storage that nobody has (packages/object-storage): those to be removed, and those on their way.
CREATE TABLE object_removal (
  key      text        COLLATE "C" PRIMARY KEY,
  -- It is not removed before.
  due_at   timestamptz NOT NULL DEFAULT now(),
  -- From here on nobody can have it any more.
  is_begun boolean     NOT NULL DEFAULT false
);

-- What only one process does at a time (packages/leases).
CREATE TABLE duty (
  name        text        NOT NULL PRIMARY KEY,
  holder      uuid        NOT NULL,
  lease_until timestamptz NOT NULL
);

-- Rows of older releases were moved from control-plane.
CREATE TABLE former_rows_moved (
  is_done  boolean        NOT NULL PRIMARY KEY DEFAULT true CHECK (is_done),
  moved_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
