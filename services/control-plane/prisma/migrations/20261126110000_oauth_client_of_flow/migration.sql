-- When the platform became the client that it is to the provider; null: not known.
ALTER TABLE "oauth_provider" ADD COLUMN "client_registered_at" TIMESTAMPTZ(3);

-- The client that a person was sent to the provider as, where the platform may be another one when the person is back.
ALTER TABLE "oauth_flow" ADD COLUMN "client_id" TEXT;
ALTER TABLE "oauth_flow" ADD COLUMN "sealed_client_secret" TEXT;
ALTER TABLE "oauth_flow" ADD COLUMN "token_endpoint_auth_method" TEXT;
