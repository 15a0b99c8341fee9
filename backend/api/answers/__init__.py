"""The shapes of the API's answers, each with an example: what the OpenAPI document says a call is answered with.

They describe and do nothing else: a route names its own with :func:`backend.api.answers.shape.answered` and answers as
before. Checking every answer against its shape would take the event loop's time; the tests do that, against the document.
"""
