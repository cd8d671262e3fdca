-- Layers of the image that projects are put on, where they run in a cluster. The images of all deployments have them in common: they are
-- fetched once, and go when no image has them any more.
CREATE TABLE "base_layer" (
    "digest" TEXT NOT NULL,
    "size" BIGINT NOT NULL,
    "parts" JSONB NOT NULL,
    "used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "base_layer_pkey" PRIMARY KEY ("digest")
);
