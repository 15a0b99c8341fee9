// There is one overlay; its name keeps a second one out.
CREATE CONSTRAINT overlay_name IF NOT EXISTS
FOR (overlay:Overlay) REQUIRE overlay.name IS UNIQUE
