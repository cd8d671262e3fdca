-- Manifests that say something of another one: signatures, lists of what is inside, where it comes from.
ALTER TABLE "registry_manifest" ADD COLUMN "subject" TEXT;
ALTER TABLE "registry_manifest" ADD COLUMN "artifact_type" TEXT;

CREATE INDEX "registry_manifest_deployment_id_repository_subject_digest_idx"
    ON "registry_manifest"("deployment_id", "repository", "subject", "digest");
