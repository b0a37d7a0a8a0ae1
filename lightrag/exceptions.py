"""Every error that the engine raises on purpose, as one tree.

    LightRAGError
    |-- InputError (also ValueError)         the caller can fix it: a 4xx in the API
    |   |-- FilterSyntaxError                a filter, tag, date or metadata field is malformed
    |   |-- ScopeError                       a scope tag or a scoped identity is malformed or contradictory
    |   `-- QueryValidationError             a query text or parameter is out of range
    |-- UnsupportedFilterError               a store cannot express a clause; raised before any I/O
    |-- StorageError                         a store failed or refused
    |   |-- StorageNotInitializedError       the stores are not open
    |   |-- StorageFullError                 no room left to write
    |   |-- SchemaVersionError               the files were written by another version
    |   `-- EmbeddingMismatchError           stored vectors and the embedding model disagree
    |-- ModelError                           a language, embedding or rerank model failed
    |   |-- ModelTimeoutError                no reply in time
    |   |-- ModelReplyError                  a reply that cannot be used
    |   `-- ContextTooLongError              the request exceeds the model's context
    |-- PipelineBusyError                    another run holds the workspace
    |-- PipelineCancelledError               the run was asked to stop
    |-- AccessDeniedError                    a request outside of what the caller may see
    |-- NotFoundError                        a named thing does not exist
    |-- DuplicateError                       a named thing exists already
    |-- SourceConflictRepairCASError         documents changed between looking and repairing
    `-- MissingDependencyError (also ImportError)    an optional package is not installed

A message names the thing with ``!r`` and says what was allowed. The API maps the classes to status codes in
one table, so a new class belongs below the one whose status it shares.
"""

from __future__ import annotations


class LightRAGError(Exception):
    """Base of every error raised on purpose; catch it to tell ours from a bug."""


class InputError(LightRAGError, ValueError):
    """The caller passed something that can never work; sending it again unchanged fails again.

    It is a ``ValueError`` too, so that pydantic reports it as a field error and ``except ValueError`` catches
    it.
    """


class FilterSyntaxError(InputError):
    """A filter, tag, date or metadata field is malformed: unknown, wrong type, naive date, over a limit."""


class ScopeError(InputError):
    """A scope tag has no usable value, two scopes are asked for, or a scoped identity is malformed."""


class QueryValidationError(InputError):
    """A query cannot be run as asked: empty text, unknown mode, a parameter out of its range."""


class UnsupportedFilterError(LightRAGError):
    """A store cannot express a clause of a filter.

    Raised while compiling, before any I/O; the caller then filters in Python and fetches until its page is
    full.
    """


class StorageError(LightRAGError):
    """A store could not read or write: connection lost, damaged file, conflicting write."""


class StorageNotInitializedError(StorageError):
    """The stores are not open: ``initialize_storages`` has not been called, or not in this process."""


class StorageFullError(StorageError):
    """A write failed because the disk, quota or size limit is exhausted; nothing of it is visible."""


class SchemaVersionError(StorageError):
    """Stored data has a layout that this version neither reads nor migrates."""


class EmbeddingMismatchError(StorageError):
    """Stored vectors have another dimension, or come from another model, than the embedding function."""


class ModelError(LightRAGError):
    """A language, embedding or rerank model failed in a way that retrying did not cure."""


class ModelTimeoutError(ModelError):
    """A model did not reply within its time limit, retries included."""


class ModelReplyError(ModelError):
    """A model replied with something unusable: empty, not the expected format, wrong number of vectors."""


class ContextTooLongError(ModelError):
    """A request is longer than the model's context; it must be cut before it is sent again."""


class PipelineBusyError(LightRAGError):
    """The workspace is being written by another run, and the operation may not wait for it."""


class PipelineCancelledError(LightRAGError):
    """Someone asked the running pipeline to stop; unfinished documents stay resumable."""


class AccessDeniedError(LightRAGError):
    """A request asks for, or would change, what the caller's access policy hides."""


class NotFoundError(LightRAGError):
    """A document, entity, relation, scope or workspace named by the caller does not exist."""


class DuplicateError(LightRAGError):
    """A document, entity or relation by that name or with that content exists already."""


class SourceConflictRepairCASError(LightRAGError):
    """The documents of a source path are others than the caller of a repair saw; nothing was done."""


class MissingDependencyError(LightRAGError, ImportError):
    """An optional package is needed and not installed; the message names the extra that brings it.

    Attributes:
        package: Import name of the missing package, as in ``import package``.
        extra: Extra of this distribution that installs it.
    """

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        """Say what is missing, for what, and how to install it.

        Args:
            package: Import name of the missing package.
            extra: Extra of this distribution that installs it.
            purpose: What it is needed for, as the start of a sentence: ``"Storage 'QdrantVectorDBStorage'"``.
        """
        super().__init__(
            f"{purpose} needs the package {package!r}. Install it with: pip install 'lightrag-hku[{extra}]'"
        )
        self.package = package
        self.extra = extra


# Names that existing code catches. Opening the stores opens the pipeline, and every binding raises the errors above.
PipelineNotInitializedError = StorageNotInitializedError
PipelineCancelledException = PipelineCancelledError
APIStatusError = APIConnectionError = RateLimitError = ModelError
APITimeoutError = ModelTimeoutError
