"""The installed app: it opens without its server, from what this browser keeps. Against the service itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.browser import fresh_page, settled, until
from tests.support.installed import InstalledService
from tests.support.process import ServiceProcess

pytestmark = [pytest.mark.browser, pytest.mark.wall_clock, pytest.mark.thorough]

KEPT = """async () => {
    const { active } = await navigator.serviceWorker.ready;
    if (active.state !== "activated") await new Promise(done => active.addEventListener("statechange", done));
    const names = await caches.keys();
    const kept = await Promise.all(names.map(async name => (await (await caches.open(name)).keys()).length));
    return names.map((name, at) => [name, kept[at]]);
}"""
"""Once the service worker is there: the name of each of its caches, and how many files are in it."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    with InstalledService(tmp_path_factory.mktemp("service")) as service:
        service.start(PROVIDERS="fake")
        yield service


@pytest.fixture
def page(browser: Browser, service: ServiceProcess) -> Iterator[Page]:
    with fresh_page(browser, service_workers="allow", base_url=service.base) as page:
        yield page


def test_the_app_opens_without_its_server_once_it_was_there(page: Page) -> None:
    page.goto("/p/mail")
    ((name, files),) = page.evaluate(KEPT)
    base = page.evaluate("() => document.querySelector('script[type=module]').src").rpartition("/")[0]
    assert base.removesuffix("/joined").endswith(name.removeprefix("svc-app "))
    assert files > 50  # joined
    page.context.set_offline(True)
    page.goto("/p/tasks")
    expect(page.get_by_role("navigation", name="Workspace")).to_be_visible()
    page.context.set_offline(False)


def test_the_manifest_says_how_it_looks_installed(page: Page, service: ServiceProcess) -> None:
    page.goto("/p/mail")
    session = page.context.new_cdp_session(page)
    told = session.send("Page.getAppManifest")
    assert told["errors"] == []
    assert session.send("Page.getInstallabilityErrors")["installabilityErrors"] == []
    manifest = page.evaluate("async url => (await fetch(url)).json()", told["url"])
    assert (manifest["display"], manifest["start_url"], manifest["scope"]) == ("standalone", "/p/mail", "/")
    for icon in manifest["icons"]:
        found = page.request.get(f"/static/{icon['src']}")
        assert (found.status, found.headers["content-type"]) == (200, icon["type"])


POST = "const post = (path, body) => fetch(path, {method: 'POST', body: JSON.stringify(body), "
POST += "headers: {'content-type': 'application/json'}}).then(answer => answer.json());"
LOG_IN = f"async ([email, invite]) => {{ {POST} await post('/auth/dev-login', {{email, ...(invite && {{invite}})}}); }}"
INVITE = f"async () => {{ {POST} return (await post('/trpc/auth.createInvite', {{}})).result.data.code; }}"
IN_STORE = """const opened = indexedDB.open("svc-offline");
    const db = await new Promise(done => { opened.onsuccess = () => done(opened.result); });
    const ask = asked => new Promise(done => { asked.onsuccess = () => { db.close(); done(asked.result); }; });"""
OWNER = f"""async () => {{ {IN_STORE}
    if (!db.objectStoreNames.contains("facts")) {{ db.close(); return ""; }}
    return (await ask(db.transaction("facts").objectStore("facts").get("owner")))?.me.user?.email; }}"""
ROWS = f"""async () => {{ {IN_STORE} return ask(db.transaction("threads").objectStore("threads").count()); }}"""
ADD_ROW = f"""async () => {{ {IN_STORE} return ask(db.transaction("threads", "readwrite").objectStore("threads")
    .put({{id: "thr_hers", keptAt: 1, bytes: 1, detail: {{}}}})); }}"""
LEFT = """async () => ({
    databases: (await indexedDB.databases()).map(({ name }) => name),
    caches: await caches.keys(),
    workers: (await navigator.serviceWorker.getRegistrations()).length,
})"""


def test_signing_out_leaves_nothing_and_the_next_person_finds_nothing(page: Page, service: ServiceProcess) -> None:
    page.goto("/login")
    page.evaluate(LOG_IN, ["ada@example.org", None])
    page.goto("/p/mail")
    page.evaluate(KEPT)
    until(page, lambda: page.evaluate(OWNER) == "ada@example.org", what="the database to be hers")
    page.goto("/settings")
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/login")
    assert page.evaluate(LEFT) == {"databases": [], "caches": [], "workers": 0}


LATE = """async base => {
    const [{ adopt }, { heard }, { all, inStore }] = await Promise.all(
        ["owner", "kept", "store"].map(name => import(`${base}/offline/${name}.js`)));
    await adopt({ user: { id: "usr_ada" }, mode: "claimed" });
    const lists = ["mail.labels", "mail.drafts", "mail.outgoing"];
    const come = (id, accountId, names = lists) => {
        const thread = { id, accountId, lastMessageAt: "" };
        heard("mail.thread", { id }, { thread, messages: [] });
        heard("mail.threads", {}, { threads: [{ ...thread, id: `${id}_row` }], nextCursor: null });
        heard("mail.signature", { accountId }, { html: "" });
        for (const name of names) heard(name, {}, [{ accountId: "acc_hers" }, { accountId }]);
    };
    heard("mail.accounts", undefined, [{ id: "acc_hers" }, { id: "acc_lost" }]);
    come("thr_hers", "acc_hers");
    come("thr_lost", "acc_lost");
    heard("mail.accounts", undefined, [{ id: "acc_hers" }]);
    come("thr_late", "acc_lost", ["mail.drafts"]);
    heard("mail.signature", { accountId: "acc_hers" }, { html: "last" });
    const get = key => inStore(["answers"], "readonly", of => of("answers").get(key));
    while ((await get('mail.signature {"accountId":"acc_hers"}'))?.html !== "last");
    const answers = await inStore(["answers"], "readonly", of => of("answers").getAllKeys());
    const kept = [...await all("rows"), ...await all("threads")].map(({ id }) => id);
    const listed = (await Promise.all(lists.map(name => get(`${name} {}`)))).flat().map(({ accountId }) => accountId);
    return [...kept, ...listed, ...answers.filter(key => key.startsWith("mail.signature"))].sort(); }"""


def test_mail_of_an_account_that_was_taken_away_goes_and_late_answers_do_not_bring_it_back(page: Page) -> None:
    page.route("**/app.js", lambda route: route.abort())  # it would ask for the accounts by itself
    page.goto("/login")
    base = page.evaluate("() => document.querySelector('script[type=module]').src").rpartition("/")[0]
    hers = [*["acc_hers"] * 3, 'mail.signature {"accountId":"acc_hers"}', "thr_hers", "thr_hers", "thr_hers_row"]
    assert page.evaluate(LATE, base) == hers


def test_what_is_anothers_goes_when_somebody_else_signs_in(page: Page, service: ServiceProcess) -> None:
    page.goto("/login")
    page.evaluate(LOG_IN, ["ada@example.org", None])
    page.goto("/p/mail")
    page.evaluate(KEPT)
    until(page, lambda: page.evaluate(OWNER) == "ada@example.org", what="the database to be hers")
    page.evaluate(ADD_ROW)
    invite = page.evaluate(INVITE)
    page.context.clear_cookies()
    page.goto("/p/mail")
    page.wait_for_url("**/login**")
    page.context.set_offline(True)
    page.goto("/p/mail")
    expect(page.get_by_text("Could not load your mail")).to_be_visible()
    until(page, lambda: page.evaluate(ROWS) == 0, what="what was read to be gone")
    page.goto("about:blank")  # with the link back, the app would go to /login by itself meanwhile
    page.context.set_offline(False)
    page.goto("/login")
    page.evaluate(LOG_IN, ["bo@example.org", invite])
    page.goto("/p/mail")
    until(page, lambda: page.evaluate(OWNER) == "bo@example.org", what="the database to be his")
    assert page.evaluate(ROWS) == 0


WAITING = f"""async () => {{ {IN_STORE} const acts = await ask(db.transaction("queue").objectStore("queue").getAll());
    return acts.map(({{ name, triedAt }}) => [name, triedAt]); }}"""
PRESS = """base => void Promise.all(
    ["mail/actions", "offline/queue"].map(name => import(`${base}/${name}.js`))).then(([{ inOrder }, { act }]) => {
    // As the mail page does it: the second act begins only once the first one is answered or stored.
    void inOrder(() => act("mail.archive", { threadIds: ["thr_hers"] }));
    void inOrder(() => act("mail.markUnread", { threadIds: ["thr_hers"] }));
})"""
"""It returns at once, since the page is left then."""
SLOW_STORE = """() => {
    const add = IDBObjectStore.prototype.add;
    IDBObjectStore.prototype.add = function (...given) {
        const store = this;
        let rounds = 200;
        const wait = () => { store.count().onsuccess = () => { if (rounds-- > 0) wait(); }; };
        wait();
        return add.apply(this, given);
    };
}"""
"""Each transaction that adds an act takes long, as on a slow disk."""


def test_an_act_at_the_end_of_the_session_waits_for_the_next_login_of_its_person(
    page: Page, service: ServiceProcess
) -> None:
    sent = list[str]()
    page.on("request", lambda asked: sent.append(asked.url) if "/trpc/mail.archive" in asked.url else None)
    page.goto("/login")
    page.evaluate(LOG_IN, ["ada@example.org", None])
    page.goto("/p/mail")
    page.evaluate(KEPT)
    until(page, lambda: page.evaluate(OWNER) == "ada@example.org", what="the database to be hers")
    invite = page.evaluate(INVITE)
    base = page.evaluate("() => document.querySelector('script[type=module]').src").rpartition("/")[0]
    page.evaluate(SLOW_STORE)
    page.context.clear_cookies()
    page.evaluate(PRESS, base)
    page.wait_for_url("**/login**")
    assert page.evaluate(WAITING) == [["mail.archive", 0], ["mail.markUnread", 0]]
    sent.clear()
    page.evaluate(LOG_IN, ["ada@example.org", None])
    page.goto("/p/mail")
    until(page, lambda: page.evaluate(WAITING) == [], what="her acts to be sent")
    assert len(sent) == 1
    page.evaluate(SLOW_STORE)
    page.context.clear_cookies()
    page.evaluate(PRESS, base)
    page.wait_for_url("**/login**")
    sent.clear()
    page.evaluate(LOG_IN, ["cy@example.org", invite])
    page.goto("/p/mail")
    until(page, lambda: page.evaluate(OWNER) == "cy@example.org", what="the database to be his")
    settled(page)
    assert (page.evaluate(WAITING), sent) == ([], [])
