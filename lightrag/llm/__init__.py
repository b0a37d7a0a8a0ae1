"""Language models: the table of bindings and one module per kind of server."""
