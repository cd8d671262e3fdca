-- Deployments that are built when their branch is pushed (source github).
CREATE TABLE "github_webhook" (
    "deployment_id" UUID NOT NULL,
    "sealed_secret" TEXT NOT NULL,

    CONSTRAINT "github_webhook_pkey" PRIMARY KEY ("deployment_id"),
    CONSTRAINT "github_webhook_deployment_id_fkey" FOREIGN KEY ("deployment_id") REFERENCES "deployment"("id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE TABLE "github_push" (
    "deployment_id" UUID NOT NULL,
    "digest" BYTEA NOT NULL,

    CONSTRAINT "github_push_pkey" PRIMARY KEY ("deployment_id", "digest"),
    CONSTRAINT "github_push_deployment_id_fkey" FOREIGN KEY ("deployment_id") REFERENCES "deployment"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
