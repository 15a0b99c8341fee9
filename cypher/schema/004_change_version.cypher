// Every version of the overlay has one change; also the index of the history and of the event feed.
CREATE CONSTRAINT change_version IF NOT EXISTS
FOR (change:Change) REQUIRE change.version IS UNIQUE
