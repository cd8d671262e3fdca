-- Data planes elsewhere that run deployments of one workspace, and report what becomes of them.
CREATE TABLE "listener" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "compute_type" TEXT NOT NULL,
    "compute_id" TEXT NOT NULL,
    "compute_config" JSONB NOT NULL,
    "version" TEXT,
    "public_url" TEXT,
    "instance_id" UUID,
    "epoch" INTEGER NOT NULL DEFAULT 0,
    "lease_until" TIMESTAMPTZ(3),
    "last_seen_at" TIMESTAMPTZ(3),
    "created_by" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "listener_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "listener_workspace_id_compute_id_key" ON "listener"("workspace_id", "compute_id");

-- Null: the platform itself runs it.
ALTER TABLE "deployment" ADD COLUMN "listener_id" UUID,
ADD COLUMN "data_plane_url" TEXT,
ADD COLUMN "last_known_status" TEXT;

-- What the status was before its data plane fell silent.
ALTER TABLE "revision" ADD COLUMN "last_known_status" TEXT;

CREATE INDEX "deployment_listener_id_idx" ON "deployment"("listener_id");

ALTER TABLE "deployment" ADD CONSTRAINT "deployment_listener_id_fkey"
    FOREIGN KEY ("listener_id") REFERENCES "listener"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
