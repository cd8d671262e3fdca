-- Access to private repositories: a token of a Git server, for one workspace.
CREATE TABLE "github_integration" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "installation_id" SERIAL NOT NULL,
    "name" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "sealed_token" TEXT NOT NULL,
    "created_by" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "github_integration_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "github_integration_workspace_id_created_at_idx" ON "github_integration"("workspace_id", "created_at");
