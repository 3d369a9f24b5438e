"""The procedures of agents."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Final, Literal

import msgspec

from svc.agents import actions
from svc.agents.actions import Wanted
from svc.agents.beginning import held_up
from svc.agents.definitions import AGENTS, written
from svc.agents.model import DEFAULT_TOOLS, MAX_CEILING_DOLLARS, MAX_PROMPT_CHARS, Definition, Schedule
from svc.clock import rfc3339
from svc.configuring import Configuration, Configured, parse
from svc.errors import Invalid
from svc.models import MICROS
from svc.principal import Principal
from svc.protocol import NOTHING, Nothing, Procedure, Wire
from svc.runs import Dispatcher
from svc.store import ReadTx
from svc.tools import Approval, taint_of
from svc.workflow import Json
from svc.workspace import RequestContext

Words = Annotated[str, msgspec.Meta(max_length=MAX_PROMPT_CHARS)]


class AgentOut(Wire, frozen=True):
    """``model``: ``None`` for the instance's model. ``schedule``: in the words of the page. ``problem``: what is wrong
    with the current version of the page; then the last valid version is shown. ``plugin``: the package that brings it,
    if it is not a page. ``held_up``: why it does not begin by itself for now; empty if it does.
    """

    name: str
    path: str
    title: str
    model: str | None
    tools: tuple[str, ...]
    schedule: str | None
    triggers: tuple[str, ...]
    instructions: str
    approvals: dict[str, Approval]
    ceiling_usd: float | None
    problem: str
    held_up: str
    plugin: str | None


Text = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Texts = Annotated[tuple[Text, ...], msgspec.Meta(max_length=100)]


class AgentIO(Wire, frozen=True):
    """One agent, for the editor. ``tools``: ``None`` for all tools of svc. ``ceiling_usd``: of one run."""

    instructions: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_PROMPT_CHARS)]
    tools: Texts | None = None
    approvals: Annotated[dict[Text, Approval], msgspec.Meta(max_length=100)] = {}
    schedule: Text | None = None
    triggers: Texts = ()
    model: Text | None = None
    ceiling_usd: Annotated[float, msgspec.Meta(ge=0, le=MAX_CEILING_DOLLARS)] | None = None


class SaveInput(Wire, frozen=True):
    """Without ``path`` a new agent is made; its path is derived from its title."""

    title: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
    agent: AgentIO
    path: Annotated[str, msgspec.Meta(min_length=1, max_length=1_000)] | None = None


class SavedOut(Wire, frozen=True):
    path: str


class RunInput(Wire, frozen=True):
    """``agent``: a name; or ``prompt`` alone; or both."""

    agent: str | None = None
    prompt: Words | None = None
    input: Json = None


class SayInput(Wire, frozen=True):
    run_id: str
    text: Words


class RunIdOut(Wire, frozen=True):
    run_id: str


class RunIdInput(Wire, frozen=True):
    run_id: str


class TrustOut(Wire, frozen=True):
    """``outside``: the first source of the run's text from outside; ``None`` where it has none."""

    outside: str | None


class SaidOut(Wire, frozen=True):
    """``heard``: whether the model was told it, which takes until its next turn."""

    by: Literal["person", "agent"]
    text: str
    at: str
    heard: bool


class RetryInput(Wire, frozen=True):
    """``step_id``: the call of the model that is made again, with all that followed it."""

    run_id: str
    step_id: str


class GoOnInput(Wire, frozen=True):
    """``ceiling_usd``: what the run may cost in total from now on."""

    run_id: str
    ceiling_usd: Annotated[float, msgspec.Meta(gt=0, le=MAX_CEILING_DOLLARS)]


async def list_agents(context: RequestContext, wanted: Nothing) -> list[AgentOut]:
    configuration, principal = context.workspace.service(Configuration), context.principal
    return await context.workspace.store.read(_listed, principal, pages=configuration)


def _listed(tx: ReadTx, principal: Principal, *, pages: Configuration) -> list[AgentOut]:
    problems = {one.path: f"line {one.line}: {one.reason}" for one in pages.problems(tx, principal)}
    found = pages.of(tx, AGENTS, owner_id=principal.user_id, everybody=principal.sees_everything)
    return [_agent_out(one, problems.get(one.path, ""), held_up(tx, one)) for one in found]


def _agent_out(one: Configured[Definition], problem: str, held_up: str) -> AgentOut:
    return AgentOut(
        name=one.name,
        path=one.path,
        title=one.title,
        model=one.value.model,
        tools=one.value.tools,
        schedule=None if one.value.schedule is None else one.value.schedule.said,
        triggers=one.value.triggers,
        instructions=one.value.instructions,
        approvals=dict(one.value.approvals),
        ceiling_usd=None if one.value.ceiling_micros is None else one.value.ceiling_micros / MICROS,
        problem=problem,
        held_up=held_up,
        plugin=one.plugin,
    )


async def save(context: RequestContext, wanted: SaveInput) -> SavedOut:
    """The saved page must read back as exactly this agent, or the call is refused: this never saves a broken page."""
    body = _written(wanted.agent)
    path = await context.workspace.store.write(
        actions.save, context.principal, title=wanted.title, body=body, path=wanted.path
    )
    return SavedOut(path=path)


def _written(wanted: AgentIO) -> str:
    definition = Definition(
        instructions=wanted.instructions.strip(),
        model=wanted.model,
        tools=DEFAULT_TOOLS if wanted.tools is None else wanted.tools,
        approvals=wanted.approvals,
        schedule=None if wanted.schedule is None else Schedule(said=wanted.schedule.strip()),
        triggers=wanted.triggers,
        ceiling_micros=None if wanted.ceiling_usd is None else round(wanted.ceiling_usd * MICROS),
    )
    body = written(definition)
    _, _, value, fault = parse(AGENTS, title="", body=body)
    if fault is not None:
        raise Invalid(f"This can't be an agent: {fault.reason}.")
    if replace(value, schedule=definition.schedule) != definition:
        raise Invalid("This can't be an agent: a value has signs that a page does not keep.")
    return body


async def run(context: RequestContext, wanted: RunInput) -> RunIdOut:
    asked = Wanted(agent=wanted.agent, prompt=wanted.prompt, input=wanted.input)
    run_id = await context.workspace.store.write(actions.begin, context.workspace, context.principal, asked)
    context.workspace.service(Dispatcher).wake.call()
    return RunIdOut(run_id=run_id)


async def say(context: RequestContext, wanted: SayInput) -> RunIdOut:
    run_id = await context.workspace.store.write(
        actions.say, context.workspace, context.principal, run_id=wanted.run_id, text=wanted.text
    )
    context.workspace.service(Dispatcher).wake.call()
    return RunIdOut(run_id=run_id)


async def trust(context: RequestContext, wanted: RunIdInput) -> TrustOut:
    return await context.workspace.store.read(_trust, context, run_id=wanted.run_id)


def _trust(tx: ReadTx, context: RequestContext, *, run_id: str) -> TrustOut:
    actions.own_run(tx, context.principal, run_id)
    return TrustOut(outside=taint_of(tx, run_id))


async def talk(context: RequestContext, wanted: RunIdInput) -> list[SaidOut]:
    found = await context.workspace.store.read(actions.talk, context.principal, run_id=wanted.run_id)
    return [SaidOut(by=one.by, text=one.text, at=rfc3339(one.at), heard=one.heard) for one in found]


async def retry(context: RequestContext, wanted: RetryInput) -> RunIdOut:
    run_id = await context.workspace.store.write(
        actions.retry_from, context.principal, run_id=wanted.run_id, step_id=wanted.step_id
    )
    context.workspace.service(Dispatcher).wake.call()
    return RunIdOut(run_id=run_id)


async def go_on(context: RequestContext, wanted: GoOnInput) -> Nothing:
    micros = round(wanted.ceiling_usd * MICROS)
    await context.workspace.store.write(actions.go_on, context.principal, run_id=wanted.run_id, micros=micros)
    context.workspace.service(Dispatcher).wake.call()
    return NOTHING


PROCEDURES: Final = (
    Procedure(
        name="agents.list",
        kind="query",
        access="authenticated",
        input=Nothing,
        output=list[AgentOut],
        call=list_agents,
        summary="The caller's agents: pages under agents/ that are whole.",
    ),
    Procedure(
        name="agents.save",
        kind="mutation",
        access="authenticated",
        input=SaveInput,
        output=SavedOut,
        call=save,
        summary="Write an agent's page, as an editor has it.",
    ),
    Procedure(
        name="agents.run",
        kind="mutation",
        access="authenticated",
        input=RunInput,
        output=RunIdOut,
        call=run,
        summary="Begin a run of an agent, or of a prompt.",
    ),
    Procedure(
        name="agents.say",
        kind="mutation",
        access="authenticated",
        input=SayInput,
        output=RunIdOut,
        call=say,
        summary="Tell a run something while it goes on; of one that has ended, go on in a new run.",
    ),
    Procedure(
        name="agents.trust",
        kind="query",
        access="authenticated",
        input=RunIdInput,
        output=TrustOut,
        call=trust,
        summary="Whether an agent's run has read text from outside.",
    ),
    Procedure(
        name="agents.talk",
        kind="query",
        access="authenticated",
        input=RunIdInput,
        output=list[SaidOut],
        call=talk,
        summary="What a person and an agent have said to each other, in order.",
    ),
    Procedure(
        name="agents.retry",
        kind="mutation",
        access="authenticated",
        input=RetryInput,
        output=RunIdOut,
        call=retry,
        summary="A new run that goes on from one call of the model of an earlier run.",
    ),
    Procedure(
        name="agents.goOn",
        kind="mutation",
        access="authenticated",
        input=GoOnInput,
        output=Nothing,
        call=go_on,
        summary="Let a run that its own ceiling ended go on where it was, with a higher one.",
    ),
)
