// What a page that means harm can try without any flaw of the browser's. Answers with all that it got to read.
async ({ service, reads, writes, opens }) => {
  const found = [];
  const PATIENCE_MS = 4000;
  const POPUP_PATIENCE_MS = 1000;
  const got = (how, url, status, text) => found.push({ how, url: url.slice(service.length), status, text });

  const settled = (element, events) =>
    new Promise((resolve) => {
      for (const name of events) element.addEventListener(name, () => resolve(name), { once: true });
      setTimeout(() => resolve("nothing"), PATIENCE_MS);
    });

  const fetched = async (how, url, options) => {
    try {
      const reply = await fetch(url, options);
      const text = await reply.text();
      if (reply.type !== "opaque" || reply.status !== 0 || text !== "") got(how, url, reply.status, text);
    } catch {
      // refused, as it should be
    }
  };

  const loaded = async (kind, url, attribute, extra = {}) => {
    const element = Object.assign(document.createElement(kind), extra);
    element[attribute] = url;
    const outcome = settled(element, ["load", "error"]);
    document.body.append(element);
    if ((await outcome) === "load") got(kind, url, 200, "");
    element.remove();
  };

  const readable = (how, url, frame) => {
    try {
      const text = frame.document.documentElement.textContent;
      if (frame.location.href !== "about:blank" && text !== "") got(how, url, 0, text);
    } catch {
      // another origin's
    }
  };

  const framed = async (url) => {
    const frame = document.createElement("iframe");
    frame.src = url;
    const outcome = settled(frame, ["load"]);
    document.body.append(frame);
    await outcome;
    readable("iframe", url, frame.contentWindow);
    if (frame.contentWindow.length) got("frames in an iframe", url, 0, String(frame.contentWindow.length));
    frame.remove();
  };

  let forms = 0;
  const submitted = async (url, enctype, body) => {
    const frame = document.createElement("iframe");
    frame.name = `form-${forms++}`;
    document.body.append(frame);
    const form = document.createElement("form");
    Object.assign(form, { action: url, method: "post", enctype, target: frame.name });
    const fields = Object.entries(body);
    const json = JSON.stringify({ ...body, "": "" }); // ends in `:""}`; the form's `=` falls between the quotes
    for (const [name, value] of enctype === "text/plain" ? [[json.slice(0, -2), '"}']] : fields) {
      const input = document.createElement("input");
      Object.assign(input, { type: "hidden", name, value: typeof value === "string" ? value : JSON.stringify(value) });
      form.append(input);
    }
    document.body.append(form);
    const outcome = settled(frame, ["load"]);
    form.submit();
    await outcome;
    readable(`form ${enctype}`, url, frame.contentWindow);
    form.remove();
    frame.remove();
  };

  const connected = (url) =>
    new Promise((resolve) => {
      const socket = new WebSocket(url.replace("http", "ws"));
      socket.onopen = () => got("WebSocket", url, 101, "");
      socket.onmessage = (event) => got("WebSocket", url, 101, event.data);
      socket.onclose = resolve;
      setTimeout(() => (socket.close(), resolve()), PATIENCE_MS);
    });

  const reading = {
    "no-cors": (way, url) => fetched(way, url, { mode: "no-cors", credentials: "include" }),
    cors: (way, url) => fetched(way, url, { mode: "cors", credentials: "omit" }),
    "cors with credentials": (way, url) => fetched(way, url, { mode: "cors", credentials: "include" }),
    token: (way, url) => fetched(way, url, { mode: "cors", headers: { "x-svc-device-token": "sdt_hostile" } }),
    range: (way, url) => fetched(way, url, { mode: "no-cors", credentials: "include", headers: { range: "bytes=0-" } }),
    img: (way, url) => loaded(way, url, "src"),
    script: (way, url) => loaded(way, url, "src"),
    link: (way, url) => loaded(way, url, "href", { rel: "stylesheet" }),
    iframe: (way, url) => framed(url),
  };

  const PLAIN = { "content-type": "text/plain" };
  const JSON_TYPE = { "content-type": "application/json" };
  const posted = (way, url, body, options) =>
    fetched(way, url, { method: "POST", credentials: "include", body: JSON.stringify(body), ...options });

  const writing = {
    beacon: (way, url, body) => navigator.sendBeacon(url, JSON.stringify(body)),
    "POST no-cors": (way, url, body) => posted(way, url, body, { mode: "no-cors", headers: PLAIN }),
    "POST simple": (way, url, body) => posted(way, url, body, { mode: "cors", headers: PLAIN }),
    "POST untyped": (way, url, body) =>
      posted(way, url, body, { mode: "no-cors", body: new Blob([JSON.stringify(body)]) }),
    "POST json": (way, url, body) => posted(way, url, body, { mode: "cors", headers: JSON_TYPE }),
    "form urlencoded": (way, url, body) => submitted(url, "application/x-www-form-urlencoded", body),
    "form multipart": (way, url, body) => submitted(url, "multipart/form-data", body),
    "form plain": (way, url, body) => submitted(url, "text/plain", body),
  };

  const read = ([path, ways]) => Promise.all(ways.map((way) => reading[way](way, service + path)));
  const write = ([path, body, ways]) => Promise.all(ways.map((way) => writing[way](way, service + path, body)));

  // A popup's events are not ours to hear, so it is looked at until it has gone elsewhere. A download goes nowhere.
  const hasArrived = (popup) => {
    try {
      return popup.closed || (popup.location.href !== "about:blank" && popup.document.readyState === "complete");
    } catch {
      return true; // another origin's
    }
  };

  const opened = async (url) => {
    const popup = window.open(url);
    if (!popup) return;
    const giveUp = performance.now() + POPUP_PATIENCE_MS;
    while (!hasArrived(popup) && performance.now() < giveUp) await new Promise((resolve) => setTimeout(resolve, 20));
    readable("popup", url, popup);
    popup.close();
  };

  const AT_ONCE = 8;
  const each = async (list, tried) => {
    for (let start = 0; start < list.length; start += AT_ONCE) {
      await Promise.all(list.slice(start, start + AT_ONCE).map(tried));
    }
  };
  await each(reads, read);
  await each(writes, write);
  await each(["/ws", "/ws?ticket=hostile"], (path) => connected(service + path));
  await each(opens, (path) => opened(service + path));
  return found;
}
