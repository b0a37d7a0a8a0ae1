"""Requests to Amazon Bedrock, proved by a key or signed with the credentials that AWS tools find."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lightrag.exceptions import InputError, MissingDependencyError
from lightrag.settings_api import provider_settings

EXTRA = "providers"
DEFAULT_REGION = "us-east-1"


@dataclass(frozen=True)
class BedrockPlace:
    """Where Bedrock is, and who asks.

    Attributes:
        base_url: Address of the server; ``None`` for that of the region.
        api_key: Bearer token; ``None`` to sign.
        region: AWS region.
        access_key_id: With the next two, credentials for signing; ``None`` for those that AWS tools find.
        secret_access_key: Secret of the access key.
        session_token: Token of a temporary session.
    """

    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    region: str = ""
    access_key_id: str | None = field(default=None, repr=False)
    secret_access_key: str | None = field(default=None, repr=False)
    session_token: str | None = field(default=None, repr=False)

    @classmethod
    def take(cls, kwargs: dict[str, Any]) -> BedrockPlace:
        """Take from keyword arguments what concerns the place, the rest from the settings."""
        own = provider_settings()
        base_url = kwargs.pop("base_url", None) or kwargs.pop("endpoint_url", None)
        signing = kwargs.pop("aws_access_key_id", None), kwargs.pop("aws_secret_access_key", None)
        key = kwargs.pop("api_key", None)
        if not key and not base_url and not all(signing):
            key = own.aws_bearer_token_bedrock
        region = kwargs.pop("region", None) or kwargs.pop("aws_region", None) or own.aws_region or DEFAULT_REGION
        return cls(base_url, key or None, region, *signing, kwargs.pop("aws_session_token", None))

    def url(self, model: str, action: str) -> str:
        """Return the address of an action of a model, whose name may be an ARN."""
        from urllib.parse import quote

        host = self.base_url or f"https://bedrock-runtime.{self.region}.amazonaws.com"
        return f"{host.rstrip('/')}/model/{quote(model, safe='')}/{action}"

    async def request(self, url: str, body: Mapping[str, Any]) -> tuple[bytes, dict[str, str]]:
        """Return the bytes and headers of a request that is allowed.

        Raises:
            MissingDependencyError: It must be signed, and the package for that is not installed.
            InputError: There is neither a key nor credentials.
        """
        data = json.dumps(body).encode()
        headers = {"content-type": "application/json"}
        if self.api_key:
            return data, {**headers, "authorization": f"Bearer {self.api_key}"}
        # Looking for credentials may read files and ask the machine's metadata service.
        return data, await asyncio.to_thread(self._signed, url, data, headers)

    def _signed(self, url: str, data: bytes, headers: dict[str, str]) -> dict[str, str]:
        try:
            from botocore.auth import SigV4Auth
            from botocore.awsrequest import AWSRequest
            from botocore.credentials import Credentials
            from botocore.session import Session
        except ImportError as error:
            raise MissingDependencyError("botocore", EXTRA, "signing requests to Amazon Bedrock") from error
        if self.access_key_id and self.secret_access_key:
            credentials: Any = Credentials(self.access_key_id, self.secret_access_key, self.session_token)
        else:
            credentials = Session().get_credentials()
        if credentials is None:
            raise InputError(
                "no credentials for Amazon Bedrock are found: set AWS_BEARER_TOKEN_BEDROCK, or the credentials that "
                "AWS tools use"
            )
        request = AWSRequest(method="POST", url=url, data=data, headers=headers)
        SigV4Auth(credentials, "bedrock", self.region).add_auth(request)
        return dict(request.headers.items())
