"""Suggested labels and adjudication on the task pages.

Revision ID: w0006
Revises: w0005
Create Date: 2026-11-21
"""

from __future__ import annotations

revision = "w0006"
down_revision = "w0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass


def downgrade() -> None:
    pass
