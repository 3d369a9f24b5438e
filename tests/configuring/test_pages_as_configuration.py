"""Configuration in pages: what is broken is told with its line, and the last whole version stays in force."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.configuring import Configuration, Fault, Fields, Kind
from svc.configuring.values import split
from tests.support.service import Service


def _read(fields: Fields, text: str) -> str:
    fields.only({"colour"}, of="a flag")
    return fields.text("colour", "white") or ""


KIND = Kind(folder="flags", read=_read)


async def test_a_broken_page_is_told_with_its_line_and_its_last_good_version_holds(service: Service) -> None:
    pages = service.workspace.service(Configuration)
    pages.add(KIND)

    async def save(body: str) -> None:
        await service.mutate("pages.save", path="flags/one", body=body)

    async def in_force() -> list[str]:
        return [one.value for one in await service.workspace.store.read(pages.of, KIND, everybody=True)]

    await save("---\ncolour: red\n---\nA flag.")
    await service.mutate("pages.save", path="flags/one/deeper", body="---\ncolour: no flag\n---\n")
    assert (await in_force(), await service.query("config.problems")) == (["red"], [])
    await save("---\ncolour: blue\nsize: 3\n---\n")
    (problem,) = await service.query("config.problems")
    assert (problem["path"], problem["line"], problem["inForce"]) == ("flags/one", 3, True)
    assert problem["reason"] == "a flag has no field size; there are colour"
    assert await in_force() == ["red"]
    await save("---\ncolour: [a, b]\n---\n")
    assert [one["line"] for one in await service.query("config.problems")] == [2]
    await save("---\ncolour: green\n---\n")
    assert (await in_force(), await service.query("config.problems")) == (["green"], [])
    await service.mutate("pages.delete", path="flags/one/deeper")
    await service.mutate("pages.delete", path="flags/one")
    assert await in_force() == []


async def test_a_page_that_moves_to_another_folder_is_read_as_what_it_is_there(service: Service) -> None:
    pages = service.workspace.service(Configuration)
    size: Kind[int] = Kind(folder="sizes", read=lambda fields, text: len(text))
    pages.add(KIND)
    pages.add(size)

    async def in_force() -> list[object]:
        flags = await service.workspace.store.read(pages.of, KIND, everybody=True)
        sizes = await service.workspace.store.read(pages.of, size, everybody=True)
        return [*(one.value for one in flags), *(one.value for one in sizes)]

    await service.mutate("pages.save", path="flags/one", body="---\ncolour: red\n---\nfour")
    assert await in_force() == ["red"]
    await service.mutate("pages.move", path="flags/one", to="sizes/one")
    assert await in_force() == [4]
    await service.mutate("pages.move", path="sizes/one", to="flags/one")
    assert await in_force() == ["red"]


@pytest.mark.thorough
@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200) | st.text("-:a \n[]{}&*!|>'\"#\t", max_size=60))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    for body in (text, f"---\n{text}\n---\n"):
        found: Fields | Fault
        try:
            found, _ = split(body)
        except Fault as fault:
            found = fault
        assert found.line >= 1


@pytest.mark.parametrize(("said", "line"), [("colour: ''", 2), ("colour:", 2), ("\ncolour: {a: b}", 3)])
def test_what_is_said_and_empty_is_refused(said: str, line: int) -> None:
    fields, text = split(f"---\n{said}\n---\n")
    with pytest.raises(Fault) as fault:
        _read(fields, text)
    assert fault.value.line == line
