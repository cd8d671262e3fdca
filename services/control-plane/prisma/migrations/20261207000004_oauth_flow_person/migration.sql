-- The person who has to sign in before an authorization is begun. The previous release neither reads nor writes it.
ALTER TABLE "oauth_flow" ADD COLUMN "person_id" UUID;
