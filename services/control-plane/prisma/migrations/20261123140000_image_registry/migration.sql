-- Images pushed for deployments (source internal_docker): what of them is not bytes. The bytes are in the object storage.
CREATE TABLE "registry_upload" (
    "id" UUID NOT NULL,
    "deployment_id" UUID NOT NULL,
    "size" BIGINT NOT NULL DEFAULT 0,
    "parts" JSONB NOT NULL DEFAULT '[]',
    "changed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "registry_upload_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "registry_upload_deployment_id_fkey" FOREIGN KEY ("deployment_id") REFERENCES "deployment"("id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE INDEX "registry_upload_deployment_id_changed_at_idx" ON "registry_upload"("deployment_id", "changed_at");

CREATE TABLE "registry_blob" (
    "deployment_id" UUID NOT NULL,
    "digest" TEXT NOT NULL,
    "size" BIGINT NOT NULL,
    "parts" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "registry_blob_pkey" PRIMARY KEY ("deployment_id", "digest"),
    CONSTRAINT "registry_blob_deployment_id_fkey" FOREIGN KEY ("deployment_id") REFERENCES "deployment"("id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE TABLE "registry_manifest" (
    "deployment_id" UUID NOT NULL,
    "repository" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "media_type" TEXT NOT NULL,
    "content" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "registry_manifest_pkey" PRIMARY KEY ("deployment_id", "repository", "digest"),
    CONSTRAINT "registry_manifest_deployment_id_fkey" FOREIGN KEY ("deployment_id") REFERENCES "deployment"("id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE TABLE "registry_tag" (
    "deployment_id" UUID NOT NULL,
    "repository" TEXT NOT NULL,
    "tag" TEXT NOT NULL,
    "digest" TEXT NOT NULL,

    CONSTRAINT "registry_tag_pkey" PRIMARY KEY ("deployment_id", "repository", "tag"),
    CONSTRAINT "registry_tag_deployment_id_fkey" FOREIGN KEY ("deployment_id") REFERENCES "deployment"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
