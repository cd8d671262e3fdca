-- A name for people. The previous release neither reads nor writes it.
ALTER TABLE "deployment" ADD COLUMN "display_name" TEXT;
