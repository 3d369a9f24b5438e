"""Pictures in the text of a mail: files of the draft, parts of the mail that leaves, shown where they were put."""

from __future__ import annotations

import re
from email import message_from_bytes, policy
from email.message import EmailMessage

from svc.mail.sending import attaching
from tests.mail.images.pictures import PNG
from tests.mail.sending.mailer import TO, Mailer


async def uploaded(mailer: Mailer, name: str, content: bytes = PNG) -> str:
    fields = {"content-type": "image/png", "x-svc-filename": name}
    return str((await mailer.service.ask("POST", "/files", content, fields=fields)).json["id"])


def letter(mailer: Mailer) -> EmailMessage:
    (sent,) = mailer.fake_mail.mailbox(mailer.address).sent
    return message_from_bytes(sent.raw, policy=policy.default)


def test_only_what_shows_a_picture_is_renamed() -> None:
    html = '<img src="cid:fil_1"> cid:fil_1 <img src="cid:fil_12">'
    assert attaching.renamed(html, ["fil_1", "fil_1", "fil_12"], ["fil_a", "fil_12"]) == html.replace(
        '"cid:fil_1"', '"cid:fil_a"'
    )


async def test_a_picture_leaves_as_a_part_that_the_text_shows_and_other_files_beside_it(hasty: Mailer) -> None:
    picture, other = await uploaded(hasty, "wall.png"), await uploaded(hasty, "beside.png")
    shown_as = f'<img src="cid:{picture}" alt="The wall" width="600">'
    html = f'<div>See {shown_as} and <img src="cid:fil_strange" alt="none"></div>'
    mail = {"accountId": hasty.account_id, "to": [TO], "subject": "Wall", "html": html}
    files = {"attachments": [picture, other]}
    saved = await hasty.service.mutate("mail.saveDraft", **mail, **files)
    draft = await hasty.service.query("mail.draft", id=saved["id"])
    own = [one["fileId"] for one in draft["attachments"]]
    assert f'src="cid:{own[0]}"' in draft["html"]
    assert picture not in draft["html"]
    await hasty.send(subject="Wall", html=html, draftId=saved["id"], **files)
    sent = letter(hasty)
    shown = sent.get_body(("html",))
    assert shown is not None
    content = shown.get_content()
    (content_id,) = re.findall(r'src="cid:([^"]+)"', content)
    assert 'alt="The wall" width="600"' in content
    assert "none" in content
    kinds = {part.get_filename(): (part["content-id"], part.get_content_disposition()) for part in sent.walk()}
    assert kinds["wall.png"] == (f"<{content_id}>", "inline")
    assert kinds["beside.png"] == (None, "attachment")
    plain = sent.get_body(("plain",))
    assert plain is not None
    assert "See [The wall] and none" in plain.get_content()


async def test_what_is_taken_back_shows_its_picture_still(mailer: Mailer) -> None:
    picture = await uploaded(mailer, "wall.png")
    html = f'<div><img src="cid:{picture}"></div>'
    out = await mailer.send(html=html, attachments=[picture])
    await mailer.service.mutate("mail.cancelSend", id=out["outgoingId"])
    draft_id = (await mailer.service.query("mail.outgoingDraft", id=out["outgoingId"]))["draftId"]
    draft = await mailer.service.query("mail.draft", id=draft_id)
    (file,) = draft["attachments"]
    assert draft["html"] == f'<div><img src="cid:{file["fileId"]}"></div>'
    saved = {"id": draft_id, "version": draft["version"], "attachments": [file["fileId"]], "html": draft["html"]}
    await mailer.service.mutate("mail.saveDraft", accountId=mailer.account_id, to=[TO], subject="Wall", **saved)
    assert (await mailer.service.query("mail.draft", id=draft_id))["html"] == draft["html"]
