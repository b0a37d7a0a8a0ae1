"""File formats of an export: one writer each, all with the same three calls."""

from __future__ import annotations

import csv
import importlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from lightrag.exceptions import MissingDependencyError

ExportRow = tuple[Any, ...]
"""Names as text, and properties as a dict."""

# A spreadsheet takes a cell that begins so for a formula and runs it; a quote before it makes it text.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
# What a cell of a spreadsheet holds at the most, in characters.
_MAX_CELL_CHARS = 32_767
_CUT_MARK = "…"


class ExportWriter(Protocol):
    """Writes sections of rows to a file."""

    def begin_section(self, title: str, columns: Sequence[str]) -> None:
        """Begin the rows of one kind."""
        ...

    def write(self, rows: Sequence[ExportRow]) -> None:
        """Write rows of the current section; each has as many values as there are columns."""
        ...

    def finish(self) -> None:
        """Complete the file."""
        ...

    def release(self) -> None:
        """Let go of the file, complete or not. Idempotent."""
        ...


def open_writer(file_format: str, path: Path) -> ExportWriter:
    """Return the writer of a format.

    Args:
        file_format: ``csv``, ``excel``, ``md`` or ``txt``.
        path: The file; its folder is made when it is missing.

    Raises:
        MissingDependencyError: ``excel`` needs an extra that is not installed.
        OSError: The file cannot be created.
    """
    if file_format == "excel":
        return _ExcelWriter(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    writers: dict[str, type[_FileWriter]] = {"csv": _CsvWriter, "md": _MarkdownWriter, "txt": _TextWriter}
    return writers[file_format](path)


class _FileWriter(ABC):
    def __init__(self, path: Path) -> None:
        self.columns: tuple[str, ...] = ()
        self.sections = 0
        self.file = path.open("w", encoding="utf-8", newline="")

    def begin_section(self, title: str, columns: Sequence[str]) -> None:
        if self.sections:
            self.file.write("\n")
        self.sections += 1
        self.columns = tuple(columns)
        self.write_heading(title)

    @abstractmethod
    def write_heading(self, title: str) -> None: ...

    @abstractmethod
    def write(self, rows: Sequence[ExportRow]) -> None: ...

    def finish(self) -> None:
        self.file.close()

    def release(self) -> None:
        self.file.close()


class _CsvWriter(_FileWriter):
    """Sections after a comment line; properties as Python text, which ``ast.literal_eval`` reads back."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.rows = csv.writer(self.file)

    def write_heading(self, title: str) -> None:
        self.file.write(f"# {title.upper()}\n")
        self.rows.writerow(self.columns)

    def write(self, rows: Sequence[ExportRow]) -> None:
        self.rows.writerows([[_safe_cell(value) for value in row] for row in rows])


def _safe_cell(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


class _MarkdownWriter(_FileWriter):
    """A table for each section."""

    def write_heading(self, title: str) -> None:
        self.file.write(f"# {title}\n\n")
        self._line(self.columns)
        self._line(["---"] * len(self.columns))

    def write(self, rows: Sequence[ExportRow]) -> None:
        for row in rows:
            self._line([_table_cell(value) for value in row])

    def _line(self, cells: Sequence[str]) -> None:
        self.file.write(f"| {' | '.join(cells)} |\n")


def _table_cell(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    escaped = text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
    return " ".join(escaped.split())


class _TextWriter(_FileWriter):
    """A paragraph for each row."""

    def write_heading(self, title: str) -> None:
        self.file.write(f"{title.upper()}\n{'=' * len(title)}\n\n")

    def write(self, rows: Sequence[ExportRow]) -> None:
        for row in rows:
            for column, value in zip(self.columns, row, strict=True):
                if isinstance(value, dict):
                    self.file.writelines(f"  {name}: {_one_line(item)}\n" for name, item in value.items())
                else:
                    self.file.write(f"{column}: {_one_line(value)}\n")
            self.file.write("\n")


def _one_line(value: object) -> str:
    return " ".join(str(value).split())


class _ExcelWriter:
    """A sheet for each section; every value is text, so nothing is taken for a formula."""

    def __init__(self, path: Path) -> None:
        try:
            openpyxl = importlib.import_module("openpyxl")
            self.cells = importlib.import_module("openpyxl.cell")
        except ImportError as error:
            raise MissingDependencyError("openpyxl", "export", "Export to Excel") from error
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.workbook = openpyxl.Workbook(write_only=True)
        self.sheet: Any = None

    def begin_section(self, title: str, columns: Sequence[str]) -> None:
        self.sheet = self.workbook.create_sheet(title)
        self.sheet.append(list(columns))

    def write(self, rows: Sequence[ExportRow]) -> None:
        for row in rows:
            self.sheet.append([self._cell(value) for value in row])

    def _cell(self, value: object) -> Any:
        text = value if isinstance(value, str) else repr(value)
        # Control characters are not allowed in the file, and a row too long would be cut without a word.
        text = "".join(sign for sign in text if sign in "\t\n" or sign >= " ")
        if len(text) > _MAX_CELL_CHARS:
            text = text[: _MAX_CELL_CHARS - len(_CUT_MARK)] + _CUT_MARK
        cell = self.cells.WriteOnlyCell(self.sheet, value=text)
        cell.data_type = "s"
        return cell

    def finish(self) -> None:
        self.workbook.save(self.path)

    def release(self) -> None:
        self.workbook.close()
