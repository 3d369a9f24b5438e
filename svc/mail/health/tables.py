"""The columns of health, as the migration ``m006_health`` makes them. Their meaning must never change."""

from __future__ import annotations

TABLES = (
    "alter table mail_accounts add column cause text",  # the stable name of problem: one of model.Trouble
    "alter table mail_accounts add column provider_total integer",  # messages at the provider, as it last reported
    "alter table mail_accounts add column erasing integer not null default 0",  # 1: its rows are being deleted
)
