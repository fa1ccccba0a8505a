"""What kind of thing a table came in, and how a result is given back as the same kind."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import InputError, MissingExtraError
from hmc_crowd.io._forms import Form
from hmc_crowd.io._write import to_arrow, to_records, write_frame

if TYPE_CHECKING:
    import os

    import pandas as pd

__all__ = ["SourceKind"]


@dataclass(frozen=True)
class SourceKind:
    """The kind of a source, able to give a result back as the same kind.

    Parameters
    ----------
    form : Form
        What the source was.
    path : Path, optional
        Where it lay, for files.

    Examples
    --------
    >>> import pandas as pd
    >>> SourceKind(Form.RECORDS).restore(pd.DataFrame({"item": ["007"], "n_answers": [3]}))
    [{'item': '007', 'n_answers': 3}]
    """

    form: Form
    path: Path | None = None

    def restore(
        self,
        frame: pd.DataFrame,
        *,
        to: str | os.PathLike[str] | None = None,
        overwrite: bool = False,
        safe_for_spreadsheets: bool = False,
    ) -> Any:
        """Return the frame as the kind that the source was; for files, write it and return its path.

        Parameters
        ----------
        frame : pandas.DataFrame
            What to give back; the index is not part of it.
        to : path, optional
            Files only, and needed there: where to write. Without an ending it gets that of the source's kind; with one,
            the ending decides.
        overwrite, safe_for_spreadsheets : bool, default False
            As in `write_frame`.

        Raises
        ------
        InputError
            A file without ``to``, or anything that `write_frame` refuses.
        FrameError
            A column mixes types that the kind cannot hold together.
        """
        if self.form.is_file:
            if to is None:
                raise InputError(f"the source was a {self.form} file; say with to=PATH where the result goes")
            target = Path(to)
            target = target if target.suffix else target.with_name(f"{target.name}.{self.form}")
            return write_frame(frame, target, overwrite=overwrite, safe_for_spreadsheets=safe_for_spreadsheets)
        if to is not None:
            raise InputError(f"to is {str(to)!r} but the source was no file; use write_frame(frame, {str(to)!r})")
        return _in_memory(frame.reset_index(drop=True), self.form)


def _in_memory(frame: pd.DataFrame, form: Form) -> Any:
    """Convert to a kind of frame."""
    if form is Form.PANDAS:
        return frame
    if form is Form.RECORDS:
        return to_records(frame)
    table = to_arrow(frame, name="the result")
    if form is Form.ARROW:
        return table
    if form is Form.DATASET:
        return _optional("datasets", "A Hugging Face Dataset").Dataset(table)
    _optional("polars", "A polars frame")
    import narwhals as nw

    native = nw.from_arrow(table, backend="polars").to_native()
    return native.lazy() if form is Form.POLARS_LAZY else native


def _optional(module: str, purpose: str) -> Any:
    """Import a package that is there already whenever its frames came in."""
    try:
        return import_module(module)
    except ModuleNotFoundError:
        raise MissingExtraError(f"{purpose} needs {module}: pip install {module}") from None
