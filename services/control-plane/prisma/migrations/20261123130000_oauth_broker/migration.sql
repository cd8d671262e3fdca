-- The OAuth broker: providers of organizations, tokens of their users, and which agents may use them.
CREATE TABLE "oauth_provider" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "provider_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "sealed_client_secret" TEXT,
    "auth_url" TEXT NOT NULL,
    "token_url" TEXT NOT NULL,
    "uses_pkce" BOOLEAN NOT NULL,
    "code_challenge_method" TEXT,
    "provider_type" TEXT,
    "token_endpoint_auth_method" TEXT NOT NULL,
    "mcp_server_url" TEXT,
    "resource" TEXT,
    "is_dynamic_client" BOOLEAN NOT NULL DEFAULT false,
    "server_metadata" JSONB,
    "metadata_checked_at" TIMESTAMPTZ(3),
    "created_by" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "oauth_provider_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "oauth_provider_organization_id_provider_id_key" ON "oauth_provider"("organization_id", "provider_id");

CREATE TABLE "oauth_flow" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "workspace_id" UUID,
    "owner" UUID NOT NULL,
    "subject" TEXT NOT NULL,
    "provider_uuid" UUID NOT NULL,
    "state_digest" BYTEA NOT NULL,
    "sealed_code_verifier" TEXT,
    "redirect_uri" TEXT NOT NULL,
    "scopes" TEXT[],
    "is_default" BOOLEAN NOT NULL,
    "renews_token_id" UUID,
    "status" TEXT NOT NULL CHECK ("status" IN ('pending', 'exchanging', 'completed', 'failed')),
    "token_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "oauth_flow_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "oauth_flow_provider_uuid_fkey" FOREIGN KEY ("provider_uuid") REFERENCES "oauth_provider"("id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE INDEX "oauth_flow_expires_at_idx" ON "oauth_flow"("expires_at");
CREATE INDEX "oauth_flow_provider_uuid_idx" ON "oauth_flow"("provider_uuid");

CREATE TABLE "oauth_token" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "provider_uuid" UUID NOT NULL,
    "owner" UUID,
    "subject" TEXT NOT NULL,
    "workspace_id" UUID,
    "provider_account_label" TEXT,
    "sealed" TEXT NOT NULL,
    "scopes" TEXT[],
    "asked_scopes" TEXT[],
    "metadata" JSONB NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "is_default" BOOLEAN NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "oauth_token_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "oauth_token_provider_uuid_fkey" FOREIGN KEY ("provider_uuid") REFERENCES "oauth_provider"("id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE INDEX "oauth_token_organization_id_owner_provider_uuid_idx" ON "oauth_token"("organization_id", "owner", "provider_uuid");
CREATE INDEX "oauth_token_workspace_id_idx" ON "oauth_token"("workspace_id");
CREATE INDEX "oauth_token_provider_uuid_idx" ON "oauth_token"("provider_uuid");

CREATE TABLE "oauth_agent_connection" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "agent_id" TEXT NOT NULL,
    "token_id" UUID NOT NULL,
    "provider_uuid" UUID NOT NULL,
    "created_by" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "oauth_agent_connection_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "oauth_agent_connection_token_id_fkey" FOREIGN KEY ("token_id") REFERENCES "oauth_token"("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "oauth_agent_connection_provider_uuid_fkey" FOREIGN KEY ("provider_uuid") REFERENCES "oauth_provider"("id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE UNIQUE INDEX "oauth_agent_connection_workspace_id_agent_id_token_id_key" ON "oauth_agent_connection"("workspace_id", "agent_id", "token_id");
CREATE INDEX "oauth_agent_connection_token_id_idx" ON "oauth_agent_connection"("token_id");
CREATE INDEX "oauth_agent_connection_provider_uuid_idx" ON "oauth_agent_connection"("provider_uuid");
