"""What does a paper need of a campaign? A data card, LaTeX tables and a methods paragraph, from the true numbers.

Everything here is text made of given facts: no sentence claims what the facts do not hold, and a fact that is missing
is left out, not guessed. The data card follows Croissant 1.0, so that data portals read it as it is.
"""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

__all__ = ["croissant", "latex_table", "methods_paragraph"]

_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        # An empty line would end a paragraph, which no cell may.
        "\n": " ",
        "\r": " ",
    }
)
_KINDS = {"text": "sc:Text", "integer": "sc:Integer", "number": "sc:Float", "boolean": "sc:Boolean"}


def latex_table(frame: pd.DataFrame, *, caption: str, label: str) -> str:
    r"""Return a table for LaTeX (package booktabs); every cell is escaped.

    Examples
    --------
    >>> import pandas as pd
    >>> print(latex_table(pd.DataFrame({"label": ["50%"], "items": [1200]}), caption="Labels", label="tab:labels"))
    \begin{table}
      \centering
      \caption{Labels}
      \label{tab:labels}
      \begin{tabular}{lr}
        \toprule
        label & items \\
        \midrule
        50\% & 1,200 \\
        \bottomrule
      \end{tabular}
    \end{table}
    <BLANKLINE>
    """
    numeric = [frame[name].dtype.kind in "iuf" for name in frame.columns]
    lines = [
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{caption.translate(_LATEX)}}}",
        rf"  \label{{{label}}}",
        rf"  \begin{{tabular}}{{{''.join('r' if each else 'l' for each in numeric)}}}",
        r"    \toprule",
        "    " + " & ".join(str(name).replace("_", " ").translate(_LATEX) for name in frame.columns) + r" \\",
        r"    \midrule",
        *("    " + " & ".join(map(_cell, row)) + r" \\" for row in frame.itertuples(index=False)),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "--"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.3f}"
    if isinstance(value, int) or hasattr(value, "__index__"):
        return f"{int(value):,}"
    return str(value).translate(_LATEX)


def methods_paragraph(facts: Mapping[str, Any]) -> str:
    """Return how the labels came about, in one paragraph of true numbers; what is not known is not said.

    Parameters
    ----------
    facts : mapping
        Of ``items, people, audited, trade_off, seed, plan_hash, version, platforms, workers, answers, redundancy,
        median_s, excluded, aggregation, agreement, guidelines, certificate`` whatever there is.

    Examples
    --------
    >>> print(methods_paragraph({"items": 1200, "people": 300, "audited": 60, "seed": 7, "version": "1.0"}))
    Of 1,200 items, 300 were judged by people and the others by the machine, of which 60 were drawn at random and
    judged by people too. The plan was made with hmc_crowd 1.0 and seed 7.
    """
    told = [_who(facts), _how(facts), _workers(facts), _joined(facts), str(facts.get("certificate") or "")]
    tail = f"The plan was made with hmc_crowd {facts.get('version', '')} and seed {facts.get('seed', 'unknown')}"
    told.append(tail + (f" (content hash {facts['plan_hash']})." if facts.get("plan_hash") else "."))
    import textwrap

    return "\n".join(textwrap.wrap(" ".join(each for each in told if each), 110, break_on_hyphens=False))


def _who(facts: Mapping[str, Any]) -> str:
    kept = "the others by the machine" if facts.get("people") else "all by the machine"
    said = f"Of {facts['items']:,} items, {facts['people']:,} were judged by people and {kept}"
    audited = facts.get("audited")
    return said + (f", of which {audited:,} were drawn at random and judged by people too." if audited else ".")


def _how(facts: Mapping[str, Any]) -> str:
    parts = []
    if facts.get("guidelines"):
        parts.append(f"People followed {facts['guidelines']}.")
    if facts.get("platforms"):
        parts.append(f"They were found through {facts['platforms']}.")
    return " ".join(parts)


def _workers(facts: Mapping[str, Any]) -> str:
    if not facts.get("answers"):
        return ""
    said = f"{facts['workers']:,} workers gave {facts['answers']:,} answers"
    if facts.get("redundancy"):
        said += f", {facts['redundancy']:.2f} for each item they judged"
    if facts.get("median_s"):
        said += f", in a median of {facts['median_s']:.1f} seconds each"
    said += "."
    if facts.get("excluded"):
        said += f" Answers of {facts['excluded']:,} workers were left out after control items; their work was paid."
    return said


def _joined(facts: Mapping[str, Any]) -> str:
    said = f"Several answers became one label by {facts['aggregation']}." if facts.get("aggregation") else ""
    if facts.get("agreement") is not None:
        said += f" Krippendorff's alpha of the answers is {facts['agreement']:.3f}."
    return said.strip()


def croissant(
    *,
    name: str,
    description: str,
    files: Mapping[str, bytes],
    fields: Mapping[str, Sequence[tuple[str, str, str]]],
    created: str,
    license_url: str = "",
    url: str = "",
) -> dict[str, Any]:
    """Return a data card in Croissant 1.0 (JSON-LD).

    Parameters
    ----------
    name, description : str
    files : mapping of file name -> content
        CSV files; their size and SHA-256 go into the card.
    fields : mapping of file name -> (column, kind, meaning)
        Kind is text, integer, number or boolean.
    created : str
        ISO date.
    license_url, url : str
        Left out where they are empty: nobody's rights are made up.
    """
    card: dict[str, Any] = {
        "@context": {
            "@language": "en",
            "@vocab": "https://schema.org/",
            "cr": "http://mlcommons.org/croissant/",
            "dct": "http://purl.org/dc/terms/",
            "sc": "https://schema.org/",
            "conformsTo": "dct:conformsTo",
            "recordSet": "cr:recordSet",
            "field": "cr:field",
            "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
            "source": "cr:source",
            "fileObject": "cr:fileObject",
            "extract": "cr:extract",
            "column": "cr:column",
        },
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": name,
        "description": description,
        "dateCreated": created,
        "distribution": [_file(each, content) for each, content in files.items()],
        "recordSet": [_records(each, columns) for each, columns in fields.items()],
    }
    return card | ({"license": license_url} if license_url else {}) | ({"url": url} if url else {})


def _file(name: str, content: bytes) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "encodingFormat": "text/csv",
        "contentSize": f"{len(content)} B",
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _records(file: str, columns: Sequence[tuple[str, str, str]]) -> dict[str, Any]:
    stem = file.rpartition(".")[0]
    return {
        "@type": "cr:RecordSet",
        "@id": stem,
        "name": stem,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{stem}/{column}",
                "name": column,
                "description": meaning,
                "dataType": _KINDS[kind],
                "source": {"fileObject": {"@id": file}, "extract": {"column": column}},
            }
            for column, kind, meaning in columns
        ],
    }
