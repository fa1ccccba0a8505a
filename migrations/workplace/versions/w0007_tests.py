"""Qualification tests on the task pages: every finished attempt is kept, where only the last one was.

Revision ID: w0007
Revises: w0006
Create Date: 2026-11-21
"""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "w0007"
down_revision = "w0006"
branch_labels = None
depends_on = None

TABLE, INDEX = "workplace_test_attempt", "ix_workplace_test_attempt_test"
AT_ONCE = 500


def text(name: str, *, nullable: bool = False) -> sa.Column:
    return sa.Column(name, sa.Text(), nullable=nullable)


def whole(name: str, **options: bool) -> sa.Column:
    return sa.Column(name, sa.Integer(), nullable=False, **options)


def upgrade() -> None:
    made = op.create_table(
        TABLE,
        *(text(name) for name in ("worker", "study", "version")),
        whole("number", autoincrement=False),
        text("test"),
        whole("test_version"),
        text("content"),
        text("recruited_by", nullable=True),
        whole("right"),
        whole("n"),
        sa.Column("passed", sa.Boolean(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("worker", "study", "version", "number", name=f"pk_{TABLE}"),
    )
    op.create_index(INDEX, TABLE, ["test"])
    _carry_over(made)
    # Tries now count finished attempts; the one under way used to be counted, too.
    op.execute("UPDATE workplace_step SET tries = 0 WHERE kind = 'test' AND passed IS NULL")


def _carry_over(made: sa.Table) -> None:
    """Write down what is known of the one attempt that everybody had: nothing of what was asked."""
    step = sa.table(
        "workplace_step",
        *(sa.column(name) for name in ("worker", "study", "kind", "version", "passed", "score", "detail")),
        sa.column("at", sa.DateTime(timezone=True)),
    )
    done = sa.select(step).where(step.c.kind == "test", step.c.passed.is_not(None))
    connection = op.get_bind()
    rows = connection.execute(done).all()
    for start in range(0, len(rows), AT_ONCE):
        connection.execute(sa.insert(made), [_attempt(row) for row in rows[start : start + AT_ONCE]])


def _attempt(row: sa.Row) -> dict[str, object]:
    n = max(1, len(json.loads(row.detail)))
    return {
        "worker": row.worker,
        "study": row.study,
        "version": row.version,
        "number": 1,
        "test": row.study,
        "test_version": 1,
        "content": "",
        "recruited_by": None,
        "right": round((row.score or 0.0) * n),
        "n": n,
        "passed": bool(row.passed),
        "at": row.at,
    }


def downgrade() -> None:
    op.execute("UPDATE workplace_step SET tries = 1 WHERE kind = 'test' AND passed IS NULL")
    op.drop_index(INDEX, TABLE)
    op.drop_table(TABLE)
