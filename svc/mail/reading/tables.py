"""The additions to ``mail_clean``, as ``m005_images`` and ``m008_forgetting`` make them.

The meaning of these statements must never change.
"""

from __future__ import annotations

from svc.mail.images.tables import OF_A_GONE_BODY

WARNINGS = "alter table mail_clean add column warnings text not null default '[]'"  # JSON array of sentences

FORGETTING = (
    # Deletes all rows of a body that no message has any more. A trigger, because several functions delete messages.
    f"""
    create trigger mail_body_gone after delete on mail_messages
    when not exists (select 1 from mail_messages where body_sha256 = old.body_sha256) begin
        delete from mail_clean where body_sha256 = old.body_sha256;
        {OF_A_GONE_BODY};
    end
    """,
    "delete from mail_clean where body_sha256 not in (select body_sha256 from mail_messages)",
)
