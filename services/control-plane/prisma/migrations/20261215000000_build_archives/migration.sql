-- Archives of built projects count in the storage limits. Those of earlier releases were not measured and count as
-- nothing: they go when a newer revision serves.
CREATE TABLE "build_archive" (
  "deployment_id" UUID NOT NULL REFERENCES "deployment" ("id") ON DELETE CASCADE,
  "key" TEXT NOT NULL,
  "bytes" BIGINT NOT NULL,
  PRIMARY KEY ("deployment_id", "key")
);

INSERT INTO "build_archive" ("deployment_id", "key", "bytes")
SELECT DISTINCT "deployment_id", "image"->>'key', 0 FROM "revision" WHERE "image" ? 'key';
