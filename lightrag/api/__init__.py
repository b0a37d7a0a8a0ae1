"""The HTTP server: routes over the engine, compatible with the REST surface of LightRAG."""

API_VERSION = "0344"
"""Version of the REST surface, as clients compare it."""

__api_version__ = API_VERSION
