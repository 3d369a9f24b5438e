"""The procedures of agents."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from svc.agents import actions
from svc.agents.actions import Wanted
from svc.agents.definitions import AGENTS
from svc.agents.model import MAX_PROMPT_CHARS, Definition
from svc.configuring import Configuration, Configured
from svc.protocol import Nothing, Procedure, Wire
from svc.runs import Dispatcher
from svc.store import ReadTx
from svc.tools import taint_of
from svc.workflow import Json
from svc.workspace import RequestContext

Words = Annotated[str, msgspec.Meta(max_length=MAX_PROMPT_CHARS)]


class AgentOut(Wire, frozen=True):
    """``model``: ``None`` for the one of the instance."""

    name: str
    path: str
    title: str
    model: str | None
    tools: tuple[str, ...]
    schedule: bool
    triggers: tuple[str, ...]


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
    """``outside``: where its text from outside came from first; ``None`` where it has none."""

    outside: str | None


class RetryInput(Wire, frozen=True):
    """``step_id``: the call of the model that is made again, with all that came after it."""

    run_id: str
    step_id: str


async def list_agents(context: RequestContext, wanted: Nothing) -> list[AgentOut]:
    configuration, principal = context.workspace.service(Configuration), context.principal
    found = await context.workspace.store.read(
        configuration.of, AGENTS, owner_id=principal.user_id, everybody=principal.sees_everything
    )
    return [_agent_out(one) for one in found]


def _agent_out(one: Configured[Definition]) -> AgentOut:
    return AgentOut(
        name=one.name,
        path=one.path,
        title=one.title,
        model=one.value.model,
        tools=one.value.tools,
        schedule=one.value.schedule is not None,
        triggers=one.value.triggers,
    )


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


async def retry(context: RequestContext, wanted: RetryInput) -> RunIdOut:
    run_id = await context.workspace.store.write(
        actions.retry_from, context.principal, run_id=wanted.run_id, step_id=wanted.step_id
    )
    context.workspace.service(Dispatcher).wake.call()
    return RunIdOut(run_id=run_id)


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
        name="agents.retry",
        kind="mutation",
        access="authenticated",
        input=RetryInput,
        output=RunIdOut,
        call=retry,
        summary="A new run that goes on from one call of the model of an earlier run.",
    ),
)
