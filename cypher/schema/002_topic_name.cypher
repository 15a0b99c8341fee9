// A topic is known by its name.
CREATE CONSTRAINT topic_name IF NOT EXISTS
FOR (topic:Topic) REQUIRE topic.name IS UNIQUE
