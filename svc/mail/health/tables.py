"""The columns of health, as the migration ``m006_health`` makes them. Nothing here may ever change its meaning."""

from __future__ import annotations

TABLES = (
    "alter table mail_accounts add column cause text",  # beside problem: one of provider.Trouble
    "alter table mail_accounts add column provider_total integer",  # messages there, as last heard
    "alter table mail_accounts add column erasing integer not null default 0",  # 1: its rows go, batch by batch
)
