-- Until when an authorization server takes the secret that it gave a client which registered itself.
ALTER TABLE "oauth_provider" ADD COLUMN "client_secret_expires_at" TIMESTAMPTZ(3);
