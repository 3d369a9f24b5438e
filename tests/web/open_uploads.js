// Opens each address by each way a page has to embed or open something.
async ({ addresses, ways, patience }) => {
  const settled = (element) =>
    new Promise((resolve) => {
      element.addEventListener("load", resolve, { once: true });
      element.addEventListener("error", resolve, { once: true });
      setTimeout(resolve, patience);
    });

  const put = (kind, attribute, url, extra = {}) => {
    const element = Object.assign(document.createElement(kind), extra);
    element[attribute] = url;
    const outcome = settled(element);
    document.body.append(element);
    return outcome;
  };

  const popup = async (url) => {
    window.open(url);
    await new Promise((resolve) => setTimeout(resolve, patience));
  };

  const worker = (url) =>
    new Promise((resolve) => {
      setTimeout(resolve, patience);
      try {
        new Worker(url).onerror = resolve;
      } catch {
        resolve(); // another origin's
      }
    });

  const by = {
    iframe: (url) => put("iframe", "src", url),
    img: (url) => put("img", "src", url),
    object: (url) => put("object", "data", url),
    embed: (url) => put("embed", "src", url),
    script: (url) => put("script", "src", url),
    module: (url) => put("script", "src", url, { type: "module" }),
    worker,
    popup,
  };

  const AT_ONCE = 12;
  const open = (url) => Promise.all(ways.map((way) => by[way](`${url}?via=${way}`)));
  for (let start = 0; start < addresses.length; start += AT_ONCE) {
    await Promise.all(addresses.slice(start, start + AT_ONCE).map(open));
  }
}
