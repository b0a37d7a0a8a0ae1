"""Settings of the server and of the models that programs start with, read like those of the engine.

Nothing is read at import. Secrets are left out of every ``repr``.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Field, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from lightrag.exceptions import InputError
from lightrag.settings import Settings

MEBIBYTE = 1024 * 1024
_COMMA_SEPARATED = ("auth_accounts", "whitelist_paths", "cors_origins")


class NetworkSettings(BaseSettings):
    """Server: address, encryption, limits of requests."""

    host: str = Field("0.0.0.0", description="Address that the server listens on.")
    port: int = Field(9621, ge=0, le=65535, description="Port that the server listens on; 0 takes a free one.")
    ssl: bool = Field(False, description="Serve HTTPS; needs the two files below.")
    ssl_certfile: str = Field("", description="Certificate of the server, PEM.")
    ssl_keyfile: str = Field("", description="Private key of the certificate, PEM.")
    api_prefix: str = Field(
        "",
        validation_alias=AliasChoices("api_prefix", "LIGHTRAG_API_PREFIX"),
        description="Path under which a reverse proxy shows the server, such as /rag.",
    )
    cors_origins: Annotated[list[str], NoDecode] = Field(
        ["*"], description="Web pages that may call the server, separated by commas; * for all."
    )
    max_request_body_bytes: int = Field(
        MEBIBYTE,
        ge=0,
        description="Largest body of an ordinary request, bytes; 0 lifts all limits but MAX_UPLOAD_SIZE.",
    )
    max_upload_size: int = Field(100 * MEBIBYTE, ge=1, description="Largest uploaded file, bytes.")
    max_texts_per_request: int = Field(0, ge=0, description="Texts in one request at the most; 0 for no limit.")
    max_pending_documents: int = Field(
        0, ge=0, description="Documents that may wait before uploads are told to come later; 0 for no limit."
    )
    shutdown_seconds: int = Field(
        10,
        ge=0,
        validation_alias=AliasChoices("shutdown_seconds", "LIGHTRAG_SHUTDOWN_SECONDS"),
        description="How long a stopping server waits for requests and documents in work, seconds.",
    )


class FolderSettings(BaseSettings):
    """Server: files of documents."""

    input_dir: str = Field(
        "./inputs",
        description="Folder that uploads are stored in and that a scan reads; a named workspace has a subfolder there.",
    )


class AccessSettings(BaseSettings):
    """Server: who may use it."""

    lightrag_api_key: str = Field("", repr=False, description="Key that requests must carry in X-API-Key.")
    auth_accounts: Annotated[list[str], NoDecode] = Field(
        default_factory=list,
        repr=False,
        description="Accounts user:password, comma-separated, or user:{bcrypt}hash; who is changed must log in anew.",
    )
    token_secret: str = Field("", repr=False, description="Signs login tokens; at least 16 characters.")
    jwt_algorithm: Literal["HS256", "HS384", "HS512"] = Field("HS256", description="Signature of login tokens.")
    token_expire_hours: float = Field(48.0, gt=0, description="Life of a login token, hours.")
    guest_token_expire_hours: float = Field(24.0, gt=0, description="Life of a guest token, hours.")
    token_auto_renew: bool = Field(True, description="Send a fresh token in X-New-Token before one expires.")
    token_renew_threshold: float = Field(
        0.5, gt=0, le=1, description="Share of its life below which a token is renewed."
    )
    login_max_failed_attempts: int = Field(5, ge=1, description="Failed logins of a user before a pause.")
    login_lockout_window_seconds: int = Field(300, ge=1, description="Length of that pause, seconds.")
    access_policies: str = Field(
        "",
        validation_alias=AliasChoices("access_policies", "LIGHTRAG_ACCESS_POLICIES"),
        description="File that says what each key or user may see and do, JSON or YAML; empty for none.",
    )
    whitelist_paths: Annotated[list[str], NoDecode] = Field(
        ["/health"], description="Paths that need no credential, separated by commas; a last /* takes all below."
    )


class PresentationSettings(BaseSettings):
    """Server: documentation pages, web UI, names shown."""

    enable_api_docs: bool = Field(True, description="Serve /docs, /redoc and /openapi.json.")
    lightrag_default_ui: Literal["webui", "workspace"] = Field("webui", description="Where / leads.")
    webui_title: str = Field("", description="Title that the web UI shows.")
    webui_description: str = Field("", description="Line below the title.")
    enable_ai_content_notice: bool = Field(False, description="Let the web UI say that answers are made by a model.")
    ollama_emulating_model_name: str = Field("lightrag", description="Name of the model on the Ollama routes.")
    ollama_emulating_model_tag: str = Field("latest", description="Tag of that model.")


class ObservationSettings(BaseSettings):
    """Server: logs and metrics."""

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] = Field(
        "INFO", description="Least level that is logged."
    )
    log_format: Literal["text", "json"] = Field(
        "text",
        validation_alias=AliasChoices("log_format", "LIGHTRAG_LOG_FORMAT"),
        description="Form of log lines.",
    )
    log_dir: str = Field("", description="Folder for lightrag.log; empty logs to standard error alone.")
    log_max_bytes: int = Field(
        10 * 1024 * 1024, ge=0, description="Size from which lightrag.log is put aside, in bytes; 0 for never."
    )
    log_backup_count: int = Field(5, ge=0, description="How many logs that were put aside are kept.")
    enable_metrics: bool = Field(
        True,
        validation_alias=AliasChoices("enable_metrics", "LIGHTRAG_ENABLE_METRICS"),
        description="Serve /metrics in the Prometheus text format.",
    )


class BindingSettings(BaseSettings):
    """Models that the server and the command line start with."""

    llm_binding: str = Field("offline", description="Binding of the language model; offline needs no key.")
    llm_binding_host: str = Field("", description="Address of the language model; empty for the binding's own.")
    llm_binding_api_key: str = Field("", repr=False, description="Key of the language model.")
    embedding_binding: str = Field("offline", description="Binding of the embedding model; offline needs no key.")
    embedding_model: str = Field("", description="Name of the embedding model; needed by all bindings but offline.")
    embedding_dim: int = Field(1024, ge=1, description="Dimension of its vectors; offline has its own.")
    embedding_send_dim: bool = Field(False, description="Ask the model for that dimension.")
    embedding_token_limit: int = Field(0, ge=0, description="Longest text it takes, tokens; 0 when not limited.")
    embedding_asymmetric: bool = Field(False, description="Tell the model questions from documents.")
    embedding_query_prefix: str = Field("", description="Put before a question that is embedded, where asymmetric.")
    embedding_document_prefix: str = Field("", description="Put before a text that is embedded, where asymmetric.")
    embedding_use_base64: bool = Field(
        True, description="Ask for vectors as base64 instead of decimal numbers, where the binding knows both."
    )
    embedding_binding_host: str = Field("", description="Address of the embedding model.")
    embedding_binding_api_key: str = Field("", repr=False, description="Key of the embedding model.")
    rerank_binding: str = Field("null", description="Binding of the reranker; null for none.")
    rerank_model: str = Field("", description="Name of the reranker; empty for the binding's own.")
    rerank_binding_host: str = Field("", description="Address of the reranker.")
    rerank_binding_api_key: str = Field("", repr=False, description="Key of the reranker.")
    rerank_enable_chunking: bool = Field(
        False, description="Cut documents that are too long for the reranker; the best piece speaks for its document."
    )
    rerank_max_tokens_per_doc: int = Field(480, ge=1, description="Tokens of such a piece at the most.")


class RoleBindingSettings(BaseSettings):
    """Models of single roles; what is empty or 0 is taken from the model of all roles."""

    extract_llm_binding: str = Field("", description="Binding of the model that extracts entities and relations.")
    extract_llm_model: str = Field("", description="Name of the model that extracts entities and relations.")
    extract_llm_binding_host: str = Field("", description="Address of that model.")
    extract_llm_binding_api_key: str = Field("", repr=False, description="Key of that model.")
    extract_llm_timeout: int = Field(0, ge=0, description="Longest call of that model, seconds.")
    extract_max_async_llm: int = Field(0, ge=0, description="Calls of that model at a time.")
    keyword_llm_binding: str = Field("", description="Binding of the model that finds keywords of questions.")
    keyword_llm_model: str = Field("", description="Name of the model that finds keywords of questions.")
    keyword_llm_binding_host: str = Field("", description="Address of that model.")
    keyword_llm_binding_api_key: str = Field("", repr=False, description="Key of that model.")
    keyword_llm_timeout: int = Field(0, ge=0, description="Longest call of that model, seconds.")
    keyword_max_async_llm: int = Field(0, ge=0, description="Calls of that model at a time.")
    query_llm_binding: str = Field("", description="Binding of the model that answers.")
    query_llm_model: str = Field("", description="Name of the model that answers.")
    query_llm_binding_host: str = Field("", description="Address of that model.")
    query_llm_binding_api_key: str = Field("", repr=False, description="Key of that model.")
    query_llm_timeout: int = Field(0, ge=0, description="Longest call of that model, seconds.")
    query_max_async_llm: int = Field(0, ge=0, description="Calls of that model at a time.")


class ProviderSettings(BaseSettings):
    """Keys and addresses of providers, where none is given to the function or the binding that calls them."""

    openai_api_key: str = Field("", repr=False, description="Key of OpenAI, or of the server that is asked instead.")
    openai_api_base: str = Field(
        "",
        validation_alias=AliasChoices("openai_api_base", "OPENAI_BASE_URL"),
        description="Address, up to and with /v1, of a server that speaks OpenAI's protocol; otherwise OpenAI's own.",
    )
    azure_openai_endpoint: str = Field("", description="Address of the Azure resource.")
    azure_openai_api_key: str = Field("", repr=False, description="Key of the Azure resource.")
    azure_openai_api_version: str = Field("", description="Version of the interface of Azure.")
    azure_openai_deployment: str = Field("", description="Deployment on Azure that is asked when no model is named.")
    azure_embedding_endpoint: str = Field("", description="Address of another Azure resource for embeddings.")
    azure_embedding_api_key: str = Field("", repr=False, description="Key of that resource.")
    azure_embedding_api_version: str = Field("", description="Version of the interface of that resource.")
    azure_embedding_deployment: str = Field("", description="Deployment that embeds when no model is named.")
    gemini_api_key: str = Field(
        "",
        repr=False,
        validation_alias=AliasChoices("gemini_api_key", "GOOGLE_API_KEY"),
        description="Key of Google Gemini.",
    )
    mistral_api_key: str = Field("", repr=False, description="Key of Mistral.")
    nvidia_api_key: str = Field("", repr=False, description="Key of NVIDIA.")
    zhipuai_api_key: str = Field("", repr=False, description="Key of Zhipu AI.")
    jina_api_key: str = Field("", repr=False, description="Key of Jina.")
    voyage_api_key: str = Field(
        "",
        repr=False,
        validation_alias=AliasChoices("voyage_api_key", "VOYAGEAI_API_KEY"),
        description="Key of Voyage AI.",
    )
    cohere_api_key: str = Field("", repr=False, description="Key of Cohere.")
    dashscope_api_key: str = Field("", repr=False, description="Key of Alibaba Cloud's DashScope.")
    aws_bearer_token_bedrock: str = Field("", repr=False, description="Key of Amazon Bedrock; without one AWS signs.")
    aws_region: str = Field(
        "",
        validation_alias=AliasChoices("aws_region", "AWS_DEFAULT_REGION"),
        description="Region of Amazon Bedrock.",
    )


class ApiSettings(
    NetworkSettings,
    FolderSettings,
    AccessSettings,
    PresentationSettings,
    ObservationSettings,
    BindingSettings,
    RoleBindingSettings,
    ProviderSettings,
):
    """All settings of the server, typed and frozen."""

    model_config = SettingsConfigDict(
        env_file=".env", env_file_encoding="utf-8", extra="ignore", frozen=True, populate_by_name=True
    )

    @field_validator(*_COMMA_SEPARATED, mode="before")
    @classmethod
    def _split_commas(cls, value: Any) -> Any:
        if isinstance(value, str):
            return [part.strip() for part in value.split(",") if part.strip()]
        return value

    @field_validator("log_level", mode="before")
    @classmethod
    def _upper_case(cls, value: Any) -> Any:
        return value.upper() if isinstance(value, str) else value


def load_api_settings(**overrides: Any) -> ApiSettings:
    """Read the environment now.

    Args:
        overrides: Values by field name; they win over the environment.

    Raises:
        InputError: A value cannot be used; the message names the setting and what was allowed, never a secret.
    """
    try:
        return ApiSettings(**overrides)
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors())
        raise InputError(f"setting not usable: {problems}") from error


class _ProvidersOfFile(ProviderSettings):
    model_config = SettingsConfigDict(
        env_file=".env", env_file_encoding="utf-8", extra="ignore", frozen=True, populate_by_name=True
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (dotenv_settings,)


class _ProvidersOfEnvironment(ProviderSettings):
    model_config = SettingsConfigDict(env_file=None, extra="ignore", frozen=True, populate_by_name=True)


@lru_cache(maxsize=1)
def provider_file() -> ProviderSettings:
    """Return what ``.env`` says of providers, as first read by this process, which may have left that folder since."""
    return _ProvidersOfFile(**{})


def provider_settings() -> ProviderSettings:
    """Return keys and addresses of providers: those in the environment now, and those in ``.env`` where there are none.

    Programs set a key when a call has failed without it, and expect the next call to find it.
    """
    now = _ProvidersOfEnvironment(**{})
    return provider_file().model_copy(update={name: getattr(now, name) for name in now.model_fields_set})


def environment_names(kinds: Iterable[type[BaseSettings]] = (Settings, ApiSettings)) -> set[str]:
    """Return every variable that is read, in upper case."""
    names: set[str] = set()
    for kind in kinds:
        for name, field in kind.model_fields.items():
            alias = field.validation_alias
            choices = alias.choices if isinstance(alias, AliasChoices) else [name]
            names.update(str(choice).upper() for choice in choices)
    return names


# Variables of the published package that name something which is not there.
_OFF = ("", "false", "no", "off")

WITHOUT_EFFECT = {
    "MAX_UNACKED_MANUAL_RETRIES": "retries are not counted",
    "SCAN_ENQUEUE_BATCH_SIZE": "a scan stores file by file",
    "SCAN_SPOOL_DIR": "a scan keeps no files of its own",
    "TIMEOUT": "LLM_TIMEOUT limits calls of models",
    "UI_TEMPLATES_DIR": "the web UI has no templates",
    "VERBOSE": "LOG_LEVEL=DEBUG logs everything",
    "VLM_MAX_IMAGE_BYTES": "pictures are not looked at",
    "VLM_MIN_IMAGE_PIXEL": "pictures are not looked at",
    "WORKERS": "one process serves",
}


def _given_variables() -> dict[str, str]:
    given = {**DotEnvSettingsSource(ApiSettings).env_vars, **EnvSettingsSource(ApiSettings).env_vars}
    return {name.upper(): value or "" for name, value in given.items()}


def variables_without_effect() -> dict[str, str]:
    """Return variables of the published package that are set and do nothing here, each with the reason.

    One that only says that something is off is not told: it is.
    """
    given = {name for name, value in _given_variables().items() if value.strip().lower() not in _OFF}
    return {name: WITHOUT_EFFECT[name] for name in sorted(given & WITHOUT_EFFECT.keys())}


def unknown_variables(prefix: str = "LIGHTRAG_") -> dict[str, str]:
    """Return variables of the environment and of ``.env`` that look like ours and are not read.

    Returns:
        The nearest name that is read by each name found, ``""`` when none is near.
    """
    import difflib

    known = environment_names()
    unknown: dict[str, str] = {}
    for name in sorted(_given_variables()):
        if name.startswith(prefix) and name not in known:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.7)
            unknown[name] = near[0] if near else ""
    return unknown
