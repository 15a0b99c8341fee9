"""A package, so that what is made for it ends with it: other tests want the server to themselves."""
