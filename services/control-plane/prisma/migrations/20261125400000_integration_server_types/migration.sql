-- Whose API the server of an integration has, told or found out when its repositories are first listed.
ALTER TABLE "github_integration" ADD COLUMN "server_type" TEXT;
