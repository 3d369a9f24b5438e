"""The procedures of snippets: each calls an action with typed input."""

from __future__ import annotations

from svc.errors import TooLarge
from svc.mail.sending.rebuilding import Rebuilder
from svc.mail.snippets import actions, queries, wire
from svc.mail.snippets.model import MAX_HTML_CHARS
from svc.protocol import NOTHING, Nothing, Procedure
from svc.workspace import RequestContext


async def snippets(context: RequestContext, wanted: Nothing) -> list[wire.SnippetOut]:
    return [wire.snippet_out(one) for one in await context.workspace.store.read(queries.snippets, context.principal)]


async def save_snippet(context: RequestContext, wanted: wire.SaveSnippetInput) -> wire.SnippetSavedOut:
    """Save a snippet. Its HTML is sanitized first, so that the editor gets only HTML that may be shown and sent."""
    clean = await context.workspace.service(Rebuilder).own(wanted.html)
    if len(clean.html) > MAX_HTML_CHARS:
        raise TooLarge("This text is too long for a snippet.")
    snippet_id = await context.workspace.store.write(
        actions.save, context.principal, snippet_id=wanted.id, wanted=wire.snippet_input(wanted, html=clean.html)
    )
    return wire.SnippetSavedOut(id=snippet_id)


async def delete_snippet(context: RequestContext, wanted: wire.SnippetIdInput) -> Nothing:
    await context.workspace.store.write(actions.delete, context.principal, snippet_id=wanted.id)
    return NOTHING


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="mail.snippets",
        kind="query",
        access="authenticated",
        input=Nothing,
        output=list[wire.SnippetOut],
        call=snippets,
        summary="The caller's snippets (texts to put into mail by their name), by name.",
    ),
    Procedure(
        name="mail.saveSnippet",
        kind="mutation",
        access="authenticated",
        input=wire.SaveSnippetInput,
        output=wire.SnippetSavedOut,
        call=save_snippet,
        summary="Keep a text as a snippet, or change one.",
    ),
    Procedure(
        name="mail.deleteSnippet",
        kind="mutation",
        access="authenticated",
        input=wire.SnippetIdInput,
        output=Nothing,
        call=delete_snippet,
        summary="Throw a snippet away.",
    ),
)
