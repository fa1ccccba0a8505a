"""Shifts, pools and messages of invited people.

Revision ID: w0005
Revises: w0004
Create Date: 2026-11-21
"""

from __future__ import annotations

revision = "w0005"
down_revision = "w0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass


def downgrade() -> None:
    pass
